"""Is this request really from Twilio? The signature over its URL and parameters.

Owns the documented algorithm: base64 of HMAC-SHA1, keyed by the account's token, over the URL
followed by each form parameter's name and value in the order of names. A websocket upgrade has no
parameters. Pure. Since proxies and dashboards write the same address in several ways, the URL is
tried as a small set of candidates; which public address to start from is ``access``'s business.
"""

import base64
import hmac
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import urlsplit, urlunsplit

__all__ = ["HEADER", "candidate_urls", "is_signed", "sign"]

HEADER: Final = "x-twilio-signature"
_DEFAULT_PORTS: Final = {"http": 80, "ws": 80, "https": 443, "wss": 443}


def sign(token: str, url: str, params: Iterable[tuple[str, str]] = ()) -> str:
    """Compute the signature that the account with this token puts on a request.

    A name that comes more than once counts once per different value, in the order of values.
    """
    signed = url + "".join(name + value for name, value in sorted(set(params)))
    digest = hmac.digest(token.encode(), signed.encode("utf-8", "surrogatepass"), "sha1")
    return base64.b64encode(digest).decode("ascii")


def is_signed(
    token: str, signature: str, urls: Sequence[str], params: Sequence[tuple[str, str]] = ()
) -> bool:
    """Check a signature against each candidate URL, in constant time for each."""
    given = signature.encode("utf-8", "replace")
    return any(hmac.compare_digest(sign(token, url, params).encode(), given) for url in urls)


def candidate_urls(url: str) -> list[str]:
    """Write one address in the ways it may have been signed.

    With and without the port where it is the scheme's own, with and without a slash at the end of
    the path; the query stays as it is.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    default = _DEFAULT_PORTS.get(parts.scheme)
    hosts = [parts.netloc]
    if parts.port is None:
        hosts.append(f"{host}:{default}")
    elif parts.port == default:
        hosts.append(host)
    path = parts.path.rstrip("/")
    paths = [parts.path, path, f"{path}/"]
    urls = [
        urlunsplit((parts.scheme, netloc, way, parts.query, ""))
        for netloc in hosts
        for way in paths
    ]
    return list(dict.fromkeys(urls))
