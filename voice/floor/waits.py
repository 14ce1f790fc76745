"""A wait that can stand still: the clock of fillers and of silence.

Owns elapsed time only; whoever uses it says when it runs and how long it may last.
"""


class Wait:
    """Time that has passed while the wait was running, in ms."""

    __slots__ = ("_elapsed", "_since")

    def __init__(self) -> None:
        self._elapsed = 0
        self._since: int | None = None

    def restart(self) -> None:
        """Forget what has passed; stands still until ``run``."""
        self._elapsed = 0
        self._since = None

    def run(self, now: int) -> None:
        """Let time count from now on; no effect while it runs."""
        if self._since is None:
            self._since = now

    def stand(self, now: int) -> None:
        """Stop counting and keep what has passed; no effect while it stands."""
        if self._since is not None:
            self._elapsed += now - self._since
            self._since = None

    def elapsed(self, now: int) -> int:
        """What has passed so far."""
        return self._elapsed + (0 if self._since is None else now - self._since)

    def due(self, limit_ms: int, now: int) -> int:
        """When ``limit_ms`` will have passed if it runs on; never before ``now``."""
        return max(now, now + limit_ms - self.elapsed(now))
