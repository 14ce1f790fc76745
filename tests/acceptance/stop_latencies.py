"""How fast the agent stops for recorded callers: ``python -m tests.acceptance.stop_latencies``.

Each row is one thing a caller did while the agent spoke. Times count from the onset that the
scenario's JSON gives: to the hold (the server stops feeding), to silence at the far end, to the
commit (the line is given up). ``over`` is how long the agent was heard again between its silence
and the commit; ``held`` is how long all holds of this sound lasted.
"""

import sys
from dataclasses import dataclass

from tests.acceptance.recorded import Stop, replay_scenario
from voice.replay.runner import Channel

YIELDS = ("02_bargein_300ms", "02_bargein_1000ms", "03_bargein_short_no")
GOES_ON = ("04_backchannels_during_bot", "06_nonspeech_during_bot")
CHANNELS: tuple[Channel, ...] = ("twilio", "web")


@dataclass(frozen=True, slots=True)
class Row:
    """One sound of one caller on one line."""

    scenario: str
    channel: str
    sound: str
    stop: Stop


def table() -> list[Row]:
    """All rows, of all scenarios on both channels; sounds that met a silent agent are left out."""
    found: list[Row] = []
    for name in (*YIELDS, *GOES_ON):
        for channel in CHANNELS:
            heard = replay_scenario(name, channel=channel)
            for number, sound in enumerate(heard.scenario.sounds):
                stop = heard.stop(number)
                if stop.agent_was_speaking:
                    found.append(Row(name, channel, sound.text, stop))
    return found


def _cell(value: float | None) -> str:
    return f"{'-' if value is None else f'{value:.0f}':>8}"


def main() -> None:
    """Print the table."""
    names = ("hold", "silence", "commit", "over", "held")
    head = f"{'scenario':28}{'line':8}{'sound':28}" + "".join(f"{name:>8}" for name in names)
    sys.stdout.write(f"{head}\n")
    for row in table():
        stop = row.stop
        over = stop.spoke_over_ms if stop.commit_ms is not None else None
        values = (stop.hold_ms, stop.silence_ms, stop.commit_ms, over, stop.held_ms)
        cells = "".join(map(_cell, values))
        sys.stdout.write(f"{row.scenario:28}{row.channel:8}{row.sound[:26]:28}{cells}\n")


if __name__ == "__main__":
    main()
