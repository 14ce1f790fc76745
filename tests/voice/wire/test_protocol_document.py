"""docs/protocol.md says what the codecs do."""

import json
import re
from pathlib import Path

from tests.voice.wire import test_bargein_v1 as v1
from voice.wire.bargein_v1 import BargeinProtocol
from voice.wire.events import BadMessage, Ignored

TEXT = (Path(__file__).parents[3] / "docs" / "protocol.md").read_text(encoding="utf-8")
OURS = TEXT.partition("# bargein.v1")[2].partition("# Twilio Media Streams")[0]


def test_every_message_of_the_client_in_the_document_is_understood() -> None:
    of_client = [line for line in OURS.splitlines() if "server → client" not in line]
    messages = [
        text
        for line in of_client
        for text in re.findall(r'\{"type":"(?:start|mark|key|text|tap|stop)".*?\}+(?=`|$|\s)', line)
        if not line.startswith("←")
    ]
    assert len(messages) >= 9
    for text in messages:
        protocol = BargeinProtocol()
        if json.loads(text)["type"] != "start":
            protocol.decode('{"type":"start"}')
        for event in protocol.decode(text):
            assert not isinstance(event, BadMessage), text
            assert not isinstance(event, Ignored) or "cleared" in text


def test_the_documents_errors_are_those_that_the_codec_gives() -> None:
    errors = OURS.partition("## Errors")[2].partition("## Closing")[0]
    written = set(re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\|(.*?)\|", errors, re.M))))
    given = {
        answer.partition(" ")[0]
        for row in v1.TABLE
        for answer in row[1:]
        if answer[0].islower() and answer != "nothing"
    }
    assert written == given | {"bad_format", "too_large", "too_deep", "too_early"}
