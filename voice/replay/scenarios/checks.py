"""What was expected, compared with what a call left behind.

Owns the meaning of each expectation, and the words that say what was seen instead. Pure.
"""

from dataclasses import dataclass
from typing import Final, assert_never

from runtime.agent import Json
from voice.replay.scenarios.evidence import Evidence, Happened, Message, Moment, Stop, ToolRun
from voice.replay.scenarios.model import (
    Confirmation,
    Expectation,
    Heard,
    HungUp,
    Interrupted,
    InterruptedAt,
    MemoryValue,
    MemoryWas,
    ProblemWas,
    Said,
    Sequence,
    SkillWas,
    TextRule,
    ToolExecuted,
    ToolNotExecuted,
    Transferred,
)
from voice.replay.scenarios.wording import (
    listed,
    name_of,
    seconds,
    show_event,
    show_message,
    show_run,
    show_stop,
    show_write,
)

__all__ = ["Failure", "check"]

_START: Final = Moment(-1, 0.0)
_SKILL_EVENTS: Final = ("skill_started", "skill_ended")


@dataclass(frozen=True, slots=True)
class Failure:
    """An expectation that was not met."""

    what: str
    """The expectation, in a few words."""
    seen: str
    """What was seen instead, with times."""
    at_ms: float | None = None
    """Where in the call to look; None = all of it."""
    place: str = ""
    """Where the expectation stands."""


def check(expect: tuple[Expectation, ...], evidence: Evidence) -> tuple[Failure, ...]:
    """Compare each expectation; return the failures in the order written."""
    found = (_check(expectation, evidence) for expectation in expect)
    return tuple(failure for failure in found if failure is not None)


def _check(expectation: Expectation, evidence: Evidence) -> Failure | None:
    if isinstance(expectation, Sequence):
        return _sequence(expectation, evidence)
    moments = _moments(expectation, evidence)
    least, most = _wanted(expectation)
    if len(moments) >= least and (most is None or len(moments) <= most):
        return None
    times = ""
    if moments and (least, most) != (0, 0):
        times = f"{len(moments)} times; "
    at_ms = moments[0].t_ms if moments else _near(expectation, evidence)
    seen = times + _seen(expectation, evidence)
    return Failure(name_of(expectation), seen, at_ms, str(expectation.place))


def _sequence(expectation: Sequence, evidence: Evidence) -> Failure | None:
    """Each step must match later than the one before, the first match that does."""
    last, before = _START, ""
    for number, step in enumerate(expectation.steps, 1):
        moments = _moments(step, evidence) if not isinstance(step, Sequence) else ()
        later = [moment for moment in moments if _is_later(moment, last)]
        if later:
            last, before = min(later), name_of(step)
            continue
        what = f"sequencing, step {number}: {name_of(step)}"
        if moments:
            came = listed(seconds(moment.t_ms) for moment in moments)
            seen = f"it came at {came}, not after '{before}' at {seconds(last.t_ms)}"
        else:
            seen = _seen(step, evidence)
        at_ms = last.t_ms if last != _START else None
        return Failure(what, seen, at_ms, str(step.place))
    return None


def _is_later(moment: Moment, last: Moment) -> bool:
    """Whether one came after the other; the order inside one ms is nobody's promise."""
    return moment.index > last.index or (
        moment.t_ms == last.t_ms and moment.index != last.index and last != _START
    )


def _wanted(expectation: Expectation) -> tuple[int, int | None]:
    """How many matches there must be: least, most (None = any)."""
    match expectation:
        case ToolExecuted(times=times) | Interrupted(times=times, negated=False):
            return (1, None) if times is None else (times, times)
        case ToolNotExecuted():
            return 0, 0
        case Heard(at_least=least, at_most=most):
            return least, most
        case MemoryWas(negated=True) | Said(negated=True) | Interrupted(negated=True):
            return 0, 0
        case _:
            return 1, None


# ------------------------------------------------------------------ matches


def _moments(expectation: Expectation, evidence: Evidence) -> tuple[Moment, ...]:
    """When what is meant happened; for what must not happen, when it did."""
    match expectation:
        case ToolExecuted():
            return tuple(
                run.ended or run.began for run in evidence.tools if _is_run(expectation, run)
            )
        case ToolNotExecuted(tool=tool, arguments=arguments):
            return tuple(
                run.began
                for run in evidence.tools
                if run.tool == tool and _contains(run.arguments, arguments)
            )
        case MemoryWas():
            return _memory(expectation, evidence)
        case Heard(rule=rule):
            return tuple(
                m.settled for m in evidence.messages if m.settled and _fits(rule, m, m.heard)
            )
        case Said(rule=rule):
            return tuple(m.written for m in evidence.messages if _fits(rule, m, m.text))
        case Interrupted():
            return tuple(stop.at for stop in evidence.stops if _is_stop(expectation, stop))
        case InterruptedAt(rule=rule, heard=heard):
            return tuple(
                m.settled
                for m in evidence.messages
                if m.settled
                and m.outcome in ("cut", "dropped")
                and _fits(rule, m, m.text)
                and heard.search(m.heard)
            )
        case Sequence():
            return ()
        case _:
            return tuple(item.at for item in evidence.events if _is_event(expectation, item))


def _memory(expectation: MemoryWas, evidence: Evidence) -> tuple[Moment, ...]:
    """All of the fields were written: the moment of the last of them. Negated: each that was."""
    firsts: list[Moment] = []
    for wanted in expectation.values:
        moments = [
            write.at
            for write in evidence.writes
            if write.name == wanted.name and (wanted.any_value or _same(write.value, wanted.value))
        ]
        if expectation.negated:
            firsts.extend(moments)
        elif not moments:
            return ()
        elif len(expectation.values) == 1:
            return tuple(moments)
        else:
            firsts.append(moments[0])
    return tuple(sorted(firsts)) if expectation.negated else (max(firsts),) if firsts else ()


def _is_run(expectation: ToolExecuted, run: ToolRun) -> bool:
    return (
        run.tool == expectation.tool
        and expectation.outcome in ("any", run.outcome)
        and _contains(run.arguments, expectation.arguments)
    )


def _is_stop(expectation: Interrupted, stop: Stop) -> bool:
    during, within = expectation.during, expectation.within_ms
    if during is not None:
        rule = TextRule(contains=during)
        cut = any(m.response == during or _fits(rule, m, m.text) for m in stop.messages)
        if not cut and during not in stop.tools:
            return False
    if within is None:
        return True
    return stop.silent_after_ms is not None and stop.silent_after_ms <= within


def _is_event(expectation: Expectation, item: Happened) -> bool:
    match expectation:
        case SkillWas(skill=skill, how="started"):
            return item.event == "skill_started" and item.text("skill") == skill
        case SkillWas(skill=skill, how=how):
            is_it = item.event == "skill_ended" and item.text("skill") == skill
            return is_it and item.text("how") == how
        case Confirmation(tool=tool, answered=False):
            return item.event == "confirmation_asked" and item.text("tool") == tool
        case Confirmation(tool=tool, confirmed=confirmed):
            is_it = item.event == "confirmation_answered" and item.text("tool") == tool
            return is_it and confirmed in (None, item.fields.get("confirmed"))
        case Transferred(to=to):
            return item.event == "transfer" and to in (None, item.text("target"))
        case HungUp(by=by):
            return item.event == "call_ended" and item.text("cause") == by
        case ProblemWas(code=code):
            return item.event == "problem" and code in (item.text("code"), item.text("reason"))
        case _:
            return False


def _fits(rule: TextRule, message: Message, text: str) -> bool:
    if rule.response is not None and message.response != rule.response:
        return False
    if rule.contains is not None and _plain(rule.contains) not in _plain(text):
        return False
    return rule.matches is None or rule.matches.search(text) is not None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _contains(value: Json, wanted: Json) -> bool:
    """Whether ``value`` has all that ``wanted`` names; lists and single values must be the same."""
    if wanted is None:
        return True
    if isinstance(wanted, dict):
        return isinstance(value, dict) and all(
            key in value and (_same(value[key], part) or _is_part(value[key], part))
            for key, part in wanted.items()
        )
    return _same(value, wanted)


def _is_part(value: Json, wanted: Json) -> bool:
    return isinstance(wanted, dict) and _contains(value, wanted)


def _same(one: Json, other: Json) -> bool:
    """Equal as JSON: 1 is 1.0 and not true; ``007`` written without quotes is a text."""
    match one, other:
        case bool(), _:
            return one is other
        case _, bool():
            return False
        case list(), list():
            return len(one) == len(other) and all(map(_same, one, other))
        case dict(), dict():
            return one.keys() == other.keys() and all(_same(one[k], other[k]) for k in one)
        case _:
            return one == other


# ------------------------------------------------------------------ what was seen instead


def _seen(expectation: Expectation, evidence: Evidence) -> str:
    match expectation:
        case ToolExecuted(tool=tool) | ToolNotExecuted(tool=tool):
            return _seen_tools(tool, evidence)
        case MemoryWas(values=values):
            return "; ".join(_seen_writes(value, evidence) for value in values)
        case Heard():
            return _seen_messages(evidence.messages, heard=True)
        case Said():
            return _seen_messages(evidence.messages, heard=False)
        case Interrupted():
            stops = listed(show_stop(stop) for stop in evidence.stops)
            return f"interruptions: {stops}" if stops else "nobody interrupted the agent"
        case InterruptedAt(rule=rule):
            meant = tuple(m for m in evidence.messages if _fits(rule, m, m.text))
            if meant:
                return _seen_messages(meant, heard=True)
            return "no such message; " + _seen_messages(evidence.messages, heard=False)
        case SkillWas():
            return _seen_events(_SKILL_EVENTS, "no skill was started or ended", evidence)
        case Confirmation():
            names = ("confirmation_asked", "confirmation_answered", "confirmation_withdrawn")
            return _seen_events(names, "nothing was asked to be confirmed", evidence)
        case Transferred():
            return _seen_events(("transfer",), "the call was not transferred", evidence)
        case HungUp():
            return _seen_events(("hang_up", "call_ended"), "nobody hung up", evidence)
        case ProblemWas():
            return _seen_events(("problem",), "there was no problem", evidence)
        case Sequence():
            return ""
        case _:
            assert_never(expectation)


def _seen_tools(tool: str, evidence: Evidence) -> str:
    of_name = listed(show_run(run) for run in evidence.tools if run.tool == tool)
    if of_name:
        return f"calls of {tool}: {of_name}"
    others = listed(show_run(run) for run in evidence.tools)
    return f"{tool} was never called; " + (f"called: {others}" if others else "no tool was")


def _seen_writes(wanted: MemoryValue, evidence: Evidence) -> str:
    writes = listed(show_write(write) for write in evidence.writes if write.name == wanted.name)
    if writes:
        return f"{wanted.name} was set to {writes}"
    names = listed(dict.fromkeys(write.name for write in evidence.writes))
    return f"{wanted.name} was never set; " + (f"set were {names}" if names else "nothing was")


def _seen_messages(messages: tuple[Message, ...], *, heard: bool) -> str:
    shown = listed((show_message(m, heard=heard) for m in messages), most=12)
    if not shown:
        return "the agent said nothing"
    return f"{'heard' if heard else 'said'}: {shown}"


def _seen_events(names: tuple[str, ...], none: str, evidence: Evidence) -> str:
    return listed(show_event(item) for item in evidence.events if item.event in names) or none


def _near(expectation: Expectation, evidence: Evidence) -> float | None:
    """Where to look for what did not come: the nearest thing of its kind."""
    match expectation:
        case ToolExecuted(tool=tool):
            found = [run.began.t_ms for run in evidence.tools if run.tool == tool]
        case MemoryWas(values=values):
            names = {value.name for value in values}
            found = [write.at.t_ms for write in evidence.writes if write.name in names]
        case Interrupted():
            found = [stop.at.t_ms for stop in evidence.stops]
        case InterruptedAt(rule=rule):
            found = [
                m.settled.t_ms for m in evidence.messages if m.settled and _fits(rule, m, m.text)
            ]
        case _:
            found = []
    return found[-1] if found else None
