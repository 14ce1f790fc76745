"""Who may come in."""

import pytest

from voice.gateway.access import Access
from voice.gateway.config import GatewayConfig
from voice.gateway.twilio_signature import sign

TOKEN = "t0ken-of-sixteen-chars"
ACCOUNT = "account-token"


def opened() -> Access:
    return Access(GatewayConfig())


def by_token() -> Access:
    return Access(GatewayConfig(host="0.0.0.0", auth_token=TOKEN))


def by_signature(public_url: str | None = "https://calls.example.com") -> Access:
    return Access(GatewayConfig(host="0.0.0.0", twilio_auth_token=ACCOUNT, public_url=public_url))


@pytest.mark.parametrize(
    ("origin", "host", "allowed"),
    [
        (None, "127.0.0.1:8080", True),
        (None, "abc.ngrok.example", True),
        ("http://127.0.0.1:8080", "127.0.0.1:8080", True),
        ("http://localhost:8080", "localhost:8080", True),
        ("http://[::1]:8080", "[::1]:8080", True),
        ("http://localhost:8080", "127.0.0.1:8080", False),
        ("http://localhost:9999", "localhost:8080", False),
        ("https://evil.example", "127.0.0.1:8080", False),
        ("http://evil.example:8080", "evil.example:8080", False),
        ("null", "127.0.0.1:8080", False),
        ("http://[", "127.0.0.1:8080", False),
        ("", "", False),
    ],
)
def test_an_open_gateway_takes_programs_and_its_own_page_only(
    origin: str | None, host: str, allowed: bool
) -> None:
    headers = {"host": host} if origin is None else {"host": host, "origin": origin}
    assert opened().may_call(headers, {}) is allowed
    assert opened().may_stream(headers, {}, "/twilio/stream", "", 0) is allowed
    assert opened().may_announce(headers, {}, "/twilio", []) is allowed


def test_a_page_under_the_public_name_is_our_own() -> None:
    access = Access(GatewayConfig(public_url="https://abc.ngrok.example"))
    headers = {"host": "abc.ngrok.example", "origin": "https://abc.ngrok.example"}
    assert access.may_call(headers, {})


@pytest.mark.parametrize(
    ("headers", "query", "allowed"),
    [
        ({"authorization": f"Bearer {TOKEN}"}, {}, True),
        ({"authorization": f"bearer  {TOKEN} "}, {}, True),
        ({"origin": "https://shop.example", "host": "h"}, {"token": TOKEN}, True),
        ({"authorization": f"Basic {TOKEN}"}, {}, False),
        ({"authorization": "Bearer wrong"}, {"token": TOKEN}, False),
        ({"authorization": "Bearer ü"}, {}, False),
        ({}, {"token": TOKEN[:-1]}, False),
        ({}, {"token": ""}, False),
        ({}, {}, False),
    ],
)
def test_a_token_comes_as_a_bearer_or_for_browsers_in_the_query(
    headers: dict[str, str], query: dict[str, str], allowed: bool
) -> None:
    access = by_token()
    assert access.may_call(headers, query) is allowed
    assert access.may_read_metrics(headers, query) is allowed
    assert access.may_announce(headers, query, "/twilio", []) is allowed
    assert access.may_stream(headers, query, "/twilio/stream", "", 0) is allowed


def test_a_configured_token_is_asked_for_on_loopback_too() -> None:
    access = Access(GatewayConfig(auth_token=TOKEN))
    assert not access.may_call({}, {})
    assert access.may_call({}, {"token": TOKEN})


def test_with_only_twilios_token_no_app_may_call() -> None:
    access = by_signature()
    assert not access.may_call({}, {"token": ""})
    assert not access.may_read_metrics({"authorization": "Bearer "}, {})


def test_a_webhook_must_be_signed_for_our_public_address() -> None:
    access = by_signature()
    form = [("From", "+1"), ("To", "+2")]
    good = {"x-twilio-signature": sign(ACCOUNT, "https://calls.example.com/twilio?a=1", form)}
    assert access.may_announce(good, {}, "/twilio?a=1", form)
    assert not access.may_announce(good, {}, "/twilio?a=2", form)
    assert not access.may_announce(good, {}, "/twilio?a=1", [("From", "+3"), ("To", "+2")])
    assert not access.may_announce({}, {}, "/twilio?a=1", form)
    assert not access.may_announce({"authorization": f"Bearer {ACCOUNT}"}, {}, "/twilio", form)
    insecure = {"x-twilio-signature": sign(ACCOUNT, "http://calls.example.com/twilio?a=1", form)}
    assert not access.may_announce(insecure, {}, "/twilio?a=1", form)


def test_without_a_public_address_the_one_that_was_asked_is_believed() -> None:
    access = by_signature(public_url=None)
    headers = {"host": "h.example", "x-twilio-signature": sign(ACCOUNT, "https://h.example/twilio")}
    assert access.may_announce(headers, {}, "/twilio", [])
    headers = {"host": "h.example", "x-twilio-signature": sign(ACCOUNT, "http://h.example/twilio")}
    assert access.may_announce(headers, {}, "/twilio", [])


def test_a_ticket_opens_one_stream_once_and_not_for_long() -> None:
    access = by_signature()
    ticket = access.mint_ticket(100)
    path = f"/twilio/stream/{ticket}"
    assert access.expected_streams(100) == 1
    assert not access.may_stream({}, {}, path, "another", 101)
    assert access.may_stream({}, {}, path, ticket, 101)
    assert not access.may_stream({}, {}, path, ticket, 102)
    assert access.expected_streams(102) == 0
    late = access.mint_ticket(200)
    assert not access.may_stream({}, {}, path, late, 231)


def test_a_signed_upgrade_needs_no_ticket() -> None:
    access = by_signature()
    headers = {"x-twilio-signature": sign(ACCOUNT, "wss://calls.example.com:443/twilio/stream")}
    assert access.may_stream(headers, {}, "/twilio/stream", "", 0)
    assert not access.may_stream(headers, {}, "/twilio/stream/x", "x", 0)


def test_tickets_are_bounded() -> None:
    access = by_signature()
    first = access.mint_ticket(0)
    for _ in range(1500):
        access.mint_ticket(0)
    assert access.expected_streams(0) == 1000
    assert not access.may_stream({}, {}, "/twilio/stream", first, 0)


def test_the_streams_address_is_the_public_one() -> None:
    url = by_signature("https://calls.example.com:8443/voice/").stream_url({}, "T")
    assert url == "wss://calls.example.com:8443/voice/twilio/stream/T"
    assert opened().stream_url({"host": "127.0.0.1:8080"}, "T") == (
        "ws://127.0.0.1:8080/twilio/stream/T"
    )
    proxied = {"host": "abc.ngrok.example", "x-forwarded-proto": "https"}
    assert opened().stream_url(proxied, "T") == "wss://abc.ngrok.example/twilio/stream/T"


@pytest.mark.parametrize(("app_token", "account"), [("", ACCOUNT), (TOKEN, "")])
def test_an_empty_token_lets_nobody_in(app_token: str, account: str) -> None:
    """``TWILIO_AUTH_TOKEN=`` in an environment file: anyone can sign with an empty key."""
    config = GatewayConfig(
        host="0.0.0.0",
        public_url="https://calls.example.com",
        auth_token=app_token,
        twilio_auth_token=account,
    )
    access = Access(config)
    announced = [("From", "+1")]
    for scheme, params in (("https", announced), ("wss", announced[:0])):
        signature = sign("", f"{scheme}://calls.example.com/twilio", params)
        headers = {"x-twilio-signature": signature, "authorization": "Bearer "}
        assert not access.may_announce(headers, {"token": ""}, "/twilio", params)
        assert not access.may_stream(headers, {"token": ""}, "/twilio", "", 0)
    assert not access.may_call({"authorization": "Bearer "}, {})
    assert not access.may_call({}, {"token": ""})


@pytest.mark.parametrize("host", ["[", "h:abc", "h:99999", "[::1", "h:-1", ""])
def test_a_host_that_is_no_address_is_refused_and_nothing_raises(host: str) -> None:
    headers = {"host": host, "x-twilio-signature": "c2lnbmF0dXJl"}
    access = by_signature(public_url=None)
    assert not access.may_announce(headers, {}, "/twilio", [])
    assert not access.may_stream(headers, {}, "/twilio/stream", "", 0)
