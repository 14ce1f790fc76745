"""What must not listen does not."""

from pathlib import Path

import pytest

from voice.gateway.config import GatewayConfig, GatewayConfigError

TOKEN = "t0ken-of-sixteen-chars"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_a_loopback_address_is_open_without_a_token(host: str) -> None:
    config = GatewayConfig(host=host)
    config.check()
    assert config.is_open
    assert not GatewayConfig(host=host, auth_token=TOKEN).is_open


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.7", "calls.example.com", ""])
def test_another_address_needs_a_token_of_one_kind(host: str) -> None:
    with pytest.raises(GatewayConfigError, match="authentication token"):
        GatewayConfig(host=host).check()
    GatewayConfig(host=host, auth_token=TOKEN).check()
    GatewayConfig(host=host, twilio_auth_token="secret").check()
    assert not GatewayConfig(host=host, auth_token=TOKEN).is_open


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"auth_token": "short"}, "16 characters"),
        ({"port": 70000}, "no port"),
        ({"max_calls": 0}, "at least one call"),
        ({"drain_s": -1}, "negative"),
        ({"public_url": "calls.example.com"}, "public URL"),
        ({"public_url": "wss://calls.example.com"}, "public URL"),
        ({"public_url": "https://h/?a=1"}, "public URL"),
        ({"public_url": "https://h:x"}, "public URL"),
        ({"public_url": "https://["}, "public URL"),
    ],
)
def test_a_value_out_of_range_is_named(changes: dict[str, object], said: str) -> None:
    with pytest.raises(GatewayConfigError, match=said):
        GatewayConfig(**changes).check()  # type: ignore[arg-type]


def test_no_secret_is_shown() -> None:
    config = GatewayConfig(auth_token=TOKEN, twilio_auth_token="twilio-secret")
    assert TOKEN not in repr(config)
    assert "twilio-secret" not in repr(config)
    with pytest.raises(GatewayConfigError) as error:
        GatewayConfig(auth_token="short-secret").check()
    assert "short-secret" not in str(error.value)


def test_the_page_is_served_from_beside_the_code() -> None:
    assert GatewayConfig().page_dir == Path(__file__).parents[3] / "voice" / "gateway" / "page"
