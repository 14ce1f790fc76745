"""What the gateway counts, for Prometheus.

Owns the names and the reading of call events into numbers. No label holds anything of a caller:
codes and outcomes that are not known by name are counted as ``other``.
"""

from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)

from voice.call.events import CallEvent

__all__ = ["Metrics"]

_PREFIX: Final = "bargein"
_OUTCOMES: Final = frozenset(
    {"ok", "failed", "timed_out", "cancelled", "unknown", "refused", "still_running"}
)
_MOST_CODES: Final = 100
_LATENCY_S: Final = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
_LAG_S: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.04, 0.06, 0.1, 0.25, 0.5, 1.0, 3.0)


class Metrics:
    """The numbers of one process."""

    def __init__(self) -> None:
        """Begin at zero, in a registry of its own."""
        self.registry = CollectorRegistry()
        self.calls_open = Gauge(
            f"{_PREFIX}_calls_open", "Calls that are connected now.", registry=self.registry
        )
        self.calls = self._counter("calls", "Calls accepted, by channel.", "channel")
        self.refused = self._counter("refused", "Calls refused, by reason.", "reason")
        self.problems = self._counter(
            "problems", "Problems of calls, by code: unusable messages, providers, our own.", "code"
        )
        self.ignored = self._counter(
            "ignored_messages", "Messages of clients that mean nothing to us, by kind.", "kind"
        )
        self.slow_clients = self._counter("slow_clients", "Calls ended: the client did not read.")
        self.dropped_ms = self._counter("dropped_sound_ms", "Sound that a slow client missed, ms.")
        self.holds = self._counter("holds", "Times the agent fell silent for a sound.")
        self.commits = self._counter("commits", "Holds that became interruptions.")
        self.releases = self._counter("releases", "Holds that did not.")
        self.interrupts = self._counter("interrupts", "Turns interrupted.")
        self.turns = self._counter("turns", "Turns started.")
        self.tools = self._counter("tools", "Tool calls settled, by outcome.", "outcome")
        self.turn_latency = Histogram(
            f"{_PREFIX}_turn_latency_seconds",
            "From the start of a turn to the first sound of its answer.",
            buckets=_LATENCY_S,
            registry=self.registry,
        )
        self.send_lag = Histogram(
            f"{_PREFIX}_send_lag_seconds",
            "Longest wait of a sound message in its queue, per call and second.",
            buckets=_LAG_S,
            registry=self.registry,
        )
        self._turn_began_ms: dict[int, int] = {}
        self._codes: set[str] = set()

    def exposition(self) -> bytes:
        """Write all of it in Prometheus' text format."""
        return generate_latest(self.registry)

    def call_event(self, event: CallEvent) -> None:
        """Count one event of a call. Never raises."""
        match event.event:
            case "hold":
                self.holds.inc()
            case "commit":
                self.commits.inc()
            case "release":
                self.releases.inc()
            case "interrupted":
                self.interrupts.inc()
            case "turn_started":
                self.turns.inc()
                self._turn_began_ms[event.call] = event.t_ms
            case "say_started":
                self._answered(event)
            case "call_ended":
                # Not "turn_ended": a short reply is written, and its turn over, before it is heard.
                self._turn_began_ms.pop(event.call, None)
            case "tool_settled":
                outcome = str(dict(event.fields).get("outcome"))
                self.tools.labels(outcome if outcome in _OUTCOMES else "other").inc()
            case "problem":
                fields = dict(event.fields)
                self.problems.labels(self._code(fields.get("code") or fields.get("reason"))).inc()
            case _:
                pass

    def _answered(self, event: CallEvent) -> None:
        say = dict(event.fields).get("say")
        if isinstance(say, int) and say < 0:
            return  # a filler is no answer
        began_ms = self._turn_began_ms.pop(event.call, None)
        if began_ms is not None:
            self.turn_latency.observe(max(0, event.t_ms - began_ms) / 1000)

    def _code(self, code: object) -> str:
        """Keep the number of label values bounded, whatever a plug-in reports."""
        name = str(code)[:64]
        if name not in self._codes and len(self._codes) >= _MOST_CODES:
            return "other"
        self._codes.add(name)
        return name

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"{_PREFIX}_{name}", text, labels, registry=self.registry)
