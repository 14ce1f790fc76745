"""The bank behind the desk: a small stand-in for a core banking system.

It forgets everything when the process ends. What matters is its manner: an order carries a key, and
an order that comes again with the same key is the same order.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Card:
    id: str
    label: str
    last_four: str
    replaceable: bool = True


@dataclass
class Customer:
    id: str
    name: str
    birth_year: str
    cards: list[Card]
    locked: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Order:
    number: str
    customer_id: str
    card_id: str
    shipping: str


CUSTOMERS = {
    "472913": Customer(
        "472913",
        "Nora",
        "1984",
        [
            Card("card-gold", "the gold card", "4242"),
            Card("card-blue", "the blue card", "1881"),
        ],
    ),
    "300100": Customer("300100", "Sam", "1990", [Card("card-one", "the blue card", "7007")]),
    "555000": Customer(
        "555000",
        "Alex",
        "1971",
        [Card("card-corp", "the company card", "9009", replaceable=False)],
    ),
}

_orders: dict[str, Order] = {}
"""By idempotency key."""


def find(customer_id: str) -> Customer | None:
    return CUSTOMERS.get(customer_id)


def lock(customer_id: str, card_id: str) -> None:
    """Lock a card for good; once more changes nothing."""
    customer = find(customer_id)
    if customer is not None:
        customer.locked.add(card_id)


def unlock(customer_id: str, card_id: str) -> bool:
    """Take back a lock that was a mistake; returns whether there was one."""
    customer = find(customer_id)
    if customer is None or card_id not in customer.locked:
        return False
    customer.locked.remove(card_id)
    return True


def place_order(key: str, customer_id: str, card_id: str, shipping: str) -> Order:
    """Place an order, or return the one that was placed with this key before."""
    if key not in _orders:
        number = f"{7400 + len(_orders) + 1}"
        _orders[key] = Order(number, customer_id, card_id, shipping)
    return _orders[key]


def orders_of(customer_id: str) -> list[Order]:
    return [order for order in _orders.values() if order.customer_id == customer_id]


def start_over() -> None:
    """Forget what was ordered and locked: for tests, which each want a day of their own."""
    _orders.clear()
    for customer in CUSTOMERS.values():
        customer.locked.clear()
