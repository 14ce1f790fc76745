"""What the gateway is told at start: where to listen, who may come in, how many, how it stops.

Owns the values and the one rule between them that must hold before anything listens. Where they
come from (the command line, the environment) is ``voice.cli``.
"""

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from runtime.errors import AgentError

__all__ = ["PAGE_DIR", "GatewayConfig", "GatewayConfigError"]

PAGE_DIR: Final = Path(__file__).parent / "page"
"""The page that talks to the agent from a browser."""


class GatewayConfigError(AgentError):
    """The gateway can't be started like this: says which value, and what to give instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayConfig:
    """Settings of one gateway."""

    host: str = "127.0.0.1"
    port: int = 8080
    """0 = any free one."""
    public_url: str | None = None
    """How the outside reaches this server, ``https://host[:port][/path]``; None = as it asked."""
    auth_token: str | None = field(default=None, repr=False)
    """Secret of apps, browsers and metrics readers."""
    twilio_auth_token: str | None = field(default=None, repr=False)
    """The account's token, which signs what Twilio sends."""
    max_calls: int = 100
    drain_s: float = 30.0
    """How long calls may go on after the first signal to stop."""
    page_dir: Path = PAGE_DIR

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can connect."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def is_open(self) -> bool:
        """Whether anyone who can connect may call: a loopback address without any token."""
        return self.is_loopback and not self.auth_token and not self.twilio_auth_token

    def check(self) -> None:
        """Refuse what must not listen.

        Raises:
            GatewayConfigError: no token on an address that others reach, or a value out of range.
        """
        if not self.is_loopback and not self.auth_token and not self.twilio_auth_token:
            raise GatewayConfigError(
                f"{self.host} can be reached from other machines: set an authentication token "
                "(BARGEIN_AUTH_TOKEN, or TWILIO_AUTH_TOKEN if only Twilio calls), or listen on "
                "127.0.0.1"
            )
        if self.auth_token is not None and len(self.auth_token) < 16:
            raise GatewayConfigError("the authentication token must have at least 16 characters")
        if not 0 <= self.port <= 65535:
            raise GatewayConfigError(f"{self.port} is no port: give 0 to 65535")
        if self.max_calls < 1:
            raise GatewayConfigError("at least one call must be allowed")
        if self.drain_s < 0:
            raise GatewayConfigError("the time to drain must not be negative")
        if self.public_url is not None:
            _check_url(self.public_url)


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and not parts.query
        usable = usable and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable:
        raise GatewayConfigError(f"{url} is no public URL: give https://host or https://host/path")
