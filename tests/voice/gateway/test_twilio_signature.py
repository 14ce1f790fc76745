"""Twilio's signature, by the documented algorithm."""

import pytest

from voice.gateway.twilio_signature import candidate_urls, is_signed, sign

TOKEN = "12345"
FORM = [
    ("To", "+18005551212"),
    ("Caller", "+14158675309"),
    ("CallSid", "CA1234567890ABCDE"),
    ("Digits", "1234"),
    ("From", "+14158675309"),
]


def test_a_published_example_has_its_published_signature() -> None:
    url = "https://mycompany.com/myapp.php?foo=1&bar=2"
    assert sign(TOKEN, url, FORM) == "RSOYDt4T1cUTdK1PDd93/VVr8B8="


def test_the_order_of_parameters_does_not_matter_and_their_names_and_values_do() -> None:
    url = "https://h/twilio"
    assert sign(TOKEN, url, FORM) == sign(TOKEN, url, sorted(FORM))
    assert sign(TOKEN, url, FORM) != sign(TOKEN, url, FORM[1:])
    assert sign(TOKEN, url, [("A", "bc")]) == sign(TOKEN, url + "Abc")


def test_a_repeated_value_counts_once_and_different_ones_each() -> None:
    assert sign(TOKEN, "u", [("A", "1"), ("A", "1")]) == sign(TOKEN, "u", [("A", "1")])
    assert sign(TOKEN, "u", [("A", "2"), ("A", "1")]) == sign(TOKEN, "uA1A2")


@pytest.mark.parametrize(
    ("signed", "seen", "valid"),
    [
        ("wss://h/ws", "wss://h/ws", True),
        ("wss://h/ws", "wss://h:443/ws", True),
        ("wss://h:443/ws", "wss://h/ws", True),
        ("wss://h:8443/ws", "wss://h:8443/ws", True),
        ("wss://h:8443/ws", "wss://h/ws", False),
        ("https://h/ws", "wss://h/ws", False),
        ("https://h/twilio/", "https://h/twilio", True),
        ("https://h/twilio", "https://h/twilio/", True),
        ("https://h", "https://h/", True),
        ("https://h/twilio?a=1&b=2", "https://h/twilio?a=1&b=2", True),
        ("https://h/twilio?a=1", "https://h/twilio", False),
        ("https://h:443/twilio?a=1", "https://h/twilio/?a=1", True),
        ("http://h:80/t", "http://h/t", True),
        ("wss://[::1]:443/ws", "wss://[::1]/ws", True),
        ("wss://other/ws", "wss://h/ws", False),
    ],
)
def test_ports_and_slashes_may_differ_and_nothing_else(signed: str, seen: str, valid: bool) -> None:
    assert is_signed(TOKEN, sign(TOKEN, signed, FORM), candidate_urls(seen), FORM) is valid


@pytest.mark.parametrize("signature", ["", "x", "RSOYDt4T1cUTdK1PDd93/VVr8B8", "ü", "\udc80"])
def test_a_wrong_signature_is_refused_whatever_it_is(signature: str) -> None:
    url = "https://mycompany.com/myapp.php?foo=1&bar=2"
    assert not is_signed(TOKEN, signature, [url], FORM)


def test_another_token_signs_differently() -> None:
    assert not is_signed("54321", sign(TOKEN, "https://h/t"), candidate_urls("https://h/t"))
