"""Who may come in: tokens, Twilio's signature, one-time tickets, the site a browser's page is of.

Owns every decision of this kind, and no request: it is given headers, query and path. Three cases:

* *open*: a loopback address without any token. Anyone on this machine may call, but no web page of
  another site may (browsers send ``Origin``; a page that rebinds its name to 127.0.0.1 is caught by
  the host it asks for).
* ``auth_token`` set: apps send it as a bearer token, browsers as ``?token=``.
* ``twilio_auth_token`` set: webhooks must be signed, and a stream needs the ticket that the webhook
  gave it, or a signature of its own.

Nothing here logs, and no error names a secret.
"""

import hmac
import secrets
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import SplitResult, urlsplit

from voice.gateway.config import GatewayConfig
from voice.gateway.twilio_signature import HEADER, candidate_urls, is_signed

__all__ = ["Access"]

_TICKET_S: Final = 30.0
_MOST_TICKETS: Final = 1000
_LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})

Headers = Mapping[str, str]
"""Names in lower case."""


class Access:
    """The rules of one gateway. Times are the event loop's, in seconds."""

    def __init__(self, config: GatewayConfig) -> None:
        """Apply the rules of ``config``."""
        self._config = config
        self._tickets: dict[str, float] = {}

    # ------------------------------------------------------------------ decisions

    def may_call(self, headers: Headers, query: Mapping[str, str]) -> bool:
        """Whether this upgrade may open a call as an app or a browser."""
        if self._config.is_open:
            return self._is_own_page(headers)
        return self._has_token(headers, query)

    def may_read_metrics(self, headers: Headers, query: Mapping[str, str]) -> bool:
        """Whether this request may read the metrics."""
        return self._config.is_open or self._has_token(headers, query)

    def may_announce(
        self,
        headers: Headers,
        query: Mapping[str, str],
        url_path: str,
        params: Sequence[tuple[str, str]],
    ) -> bool:
        """Whether a webhook's POST may announce a call; ``url_path`` is its path and query."""
        if self._config.is_open:
            return self._is_own_page(headers)
        if not self._config.twilio_auth_token:
            return self._has_token(headers, query)
        return self._is_signed(headers, url_path, params, ("https", "http"))

    def may_stream(
        self, headers: Headers, query: Mapping[str, str], url_path: str, ticket: str, now_s: float
    ) -> bool:
        """Whether this upgrade may open a telephone stream; uses the ticket up."""
        redeemed = self._redeem(ticket, now_s)
        if self._config.is_open:
            return self._is_own_page(headers)
        if redeemed or self._has_token(headers, query):
            return True
        return self._is_signed(headers, url_path, (), ("wss", "ws"))

    # ------------------------------------------------------------------ tickets

    def mint_ticket(self, now_s: float) -> str:
        """Make a ticket for one stream, good for 30 s."""
        self._forget_old(now_s)
        while len(self._tickets) >= _MOST_TICKETS:
            del self._tickets[next(iter(self._tickets))]
        ticket = secrets.token_urlsafe(24)
        self._tickets[ticket] = now_s + _TICKET_S
        return ticket

    def expected_streams(self, now_s: float) -> int:
        """How many tickets are out: calls that are about to come."""
        self._forget_old(now_s)
        return len(self._tickets)

    def _redeem(self, ticket: str, now_s: float) -> bool:
        # A look-up by hash tells nothing of the others: tickets are long, random and used once.
        due = self._tickets.pop(ticket, None)
        return due is not None and now_s <= due

    def _forget_old(self, now_s: float) -> None:
        self._tickets = {name: due for name, due in self._tickets.items() if due >= now_s}

    # ------------------------------------------------------------------ addresses

    def public_base(self, headers: Headers) -> str:
        """Where the outside reaches us: as configured, else as this request did."""
        if self._config.public_url is not None:
            return self._config.public_url.rstrip("/")
        scheme = "https" if headers.get("x-forwarded-proto") == "https" else "http"
        return f"{scheme}://{headers.get('host', 'localhost')}"

    def stream_url(self, headers: Headers, ticket: str) -> str:
        """Where Twilio is to connect its stream."""
        scheme, _, rest = self.public_base(headers).partition("://")
        return f"{'wss' if scheme == 'https' else 'ws'}://{rest}/twilio/stream/{ticket}"

    # ------------------------------------------------------------------ proofs

    def _has_token(self, headers: Headers, query: Mapping[str, str]) -> bool:
        token = self._config.auth_token
        if not token:  # an empty one is none: everybody knows it
            return False
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        given = bearer.strip() if scheme.lower() == "bearer" else query.get("token", "")
        return hmac.compare_digest(token.encode(), given.encode("utf-8", "replace"))

    def _is_signed(
        self,
        headers: Headers,
        url_path: str,
        params: Sequence[tuple[str, str]],
        schemes: tuple[str, str],
    ) -> bool:
        token = self._config.twilio_auth_token
        signature = headers.get(HEADER)
        if not token or not signature:  # anyone can sign with an empty token
            return False
        scheme, _, rest = self.public_base(headers).partition("://")
        secure, plain = schemes
        if self._config.public_url is None:
            tried = [secure, plain]
        else:
            tried = [secure if scheme == "https" else plain]
        try:
            urls = [url for way in tried for url in candidate_urls(f"{way}://{rest}{url_path}")]
        except ValueError:  # the request's host is no address
            return False
        return is_signed(token, signature, urls, params)

    def _is_own_page(self, headers: Headers) -> bool:
        """No browser at all, or a page that we served under a name of our own."""
        origin = headers.get("origin")
        if origin is None:
            return True
        asked = _split(f"http://{headers.get('host', '')}")
        page = _split(origin)
        if asked is None or page is None or page.netloc.lower() != asked.netloc.lower():
            return False
        public = _split(self._config.public_url or "")
        if public is not None and public.hostname and asked.hostname == public.hostname:
            return True
        return asked.hostname in _LOOPBACK_NAMES


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:  # a bracket that is not closed
        return None
