"""The railway behind the desk: a small stand-in for a reservation system.

It forgets everything when the process ends. What matters is its manner: a booking carries a key,
and a booking that comes again with the same key is the same booking.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Traveller:
    id: str
    name: str
    has_railcard: bool


@dataclass(frozen=True)
class Train:
    id: str
    destination: str
    leaves: str
    price: int


@dataclass(frozen=True)
class Booking:
    number: str
    train_id: str
    fare: str


TRAVELLERS = {
    "4711": Traveller("4711", "Ines", True),
    "2020": Traveller("2020", "Tom", False),
}

TRAINS = (
    Train("NL-10", "bergen", "8:10", 64),
    Train("NL-14", "bergen", "14:10", 48),
    Train("NL-30", "malmo", "9:30", 72),
)

_bookings: dict[str, Booking] = {}
"""By idempotency key."""


def find_traveller(number: str) -> Traveller | None:
    return TRAVELLERS.get(number)


def trains_to(destination: str) -> list[Train]:
    return [train for train in TRAINS if train.destination == destination.strip().casefold()]


def train(train_id: str) -> Train | None:
    return next((train for train in TRAINS if train.id == train_id), None)


def book(key: str, train_id: str, fare: str) -> Booking:
    """Book a seat, or return the booking that was made with this key before."""
    if key not in _bookings:
        _bookings[key] = Booking(f"T{510 + len(_bookings)}", train_id, fare)
    return _bookings[key]
