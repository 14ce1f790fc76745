"""``integrations.yml``: models, channels, MCP servers, tool providers."""

import dataclasses
from collections.abc import Mapping

import pytest

from runtime.agent import InterruptionSettings, TurnTakingSettings
from runtime.errors import Place, Problem
from runtime.project.integrations_file import IntegrationsFile, read_integrations
from runtime.project.model import ChannelSpec, EngineSpec, ModelSpec
from runtime.project.server_model import (
    ApiKeyAuth,
    McpServerSpec,
    OAuthSpec,
    ToolProviderSpec,
)
from tests.runtime.project.reading import places, read_with

SMALL = "model_groups: [{id: main, models: [{provider: offline}]}]\n"
FILE = "integrations.yml"


def _read(
    text: str, env: Mapping[str, str] | None = None
) -> tuple[IntegrationsFile, list[Problem]]:
    return read_with(lambda problems: read_integrations(text.encode(), env or {}, problems))


def _right(text: str, env: Mapping[str, str] | None = None) -> IntegrationsFile:
    read, found = _read(text, env)
    assert found == []
    return read


# ------------------------------------------------------------------ models


def test_a_small_file_gets_its_defaults():
    read = _right(SMALL)
    assert read.model_groups == {
        "main": (ModelSpec(provider="offline", model="", place=Place(FILE, 1, 36)),)
    }
    assert read.voice.spec == ChannelSpec()
    assert read.voice.interruptions == InterruptionSettings()
    assert read.voice.interruptions.enabled
    assert read.voice.turn_taking == TurnTakingSettings()
    assert read.voice.silence_timeout_ms is None
    assert (read.voice.pause_after_filler_ms, read.voice.pause_between_messages_ms) == (800, 1000)
    assert read.mcp_servers == {} and read.tool_providers == {}
    assert not read.is_maestro


def test_every_provider_has_its_options_and_no_secret_is_shown():
    read = _right(
        """\
model_groups:
  - id: main
    models:
      - provider: openai
        model: gpt
        api_base: http://localhost:1/v1
        api_key: ${KEY}
        temperature: 0.2
        max_tokens: 300
      - provider: azure
        deployment: mine
        api_base: https://x.openai.azure.com
        api_key: ${KEY}
        api_version: 2024-06-01
      - {provider: scripted, steps: [{say: Hi.}], repeat_last: true}
      - {provider: my.models:Mine, model: x, depth: {a: [1, yes]}}
  - id: other
    models: [{provider: offline}]
""",
        {"KEY": "sk-1"},
    )
    openai, azure, scripted, own = read.model_groups["main"]
    assert (openai.provider, openai.model) == ("openai", "gpt")
    assert dict(openai.options) == {
        "api_base": "http://localhost:1/v1",
        "api_key": "sk-1",
        "max_tokens": 300,
        "temperature": 0.2,
    }
    assert (azure.model, azure.option("api_version")) == ("mine", "2024-06-01")
    assert dict(scripted.options) == {"steps": [{"say": "Hi."}], "repeat_last": True}
    assert (own.provider, own.model, dict(own.options)) == (
        "my.models:Mine",
        "x",
        {"depth": {"a": [1, "yes"]}},
    )
    assert [m.provider for m in read.model_groups["other"]] == ["offline"]
    assert "sk-1" not in repr(read)


@pytest.mark.parametrize(
    ("model", "column", "code"),
    [
        ("{provider: openai}", 14, "missing_key"),
        ("{provider: openai, model: x, temprature: 1}", 43, "unknown_key"),
        ("{provider: openai, model: x, temperature: 3}", 56, "out_of_range"),
        ("{provider: openai, model: x, max_tokens: 0}", 55, "out_of_range"),
        ("{provider: openai, model: x, api_key: sk-1}", 52, "literal_secret"),
        ("{provider: openai, model: x, api_base: localhost:1/v1}", 53, "bad_url"),
        ("{provider: openai, model: x, api_base: 'http://me:pw@x/v1'}", 53, "bad_url"),
        ("{provider: azure, model: x}", 14, "missing_key"),
        ("{provider: azure, api_base: 'https://x'}", 14, "missing_key"),
        ("{provider: offline, temperature: 0}", 34, "unknown_key"),
        ("{provider: rules, file: rules.yml}", 25, "unknown_value"),
        ("{provider: opanai, model: x}", 25, "unknown_value"),
        ("{model: x}", 14, "missing_key"),
        ("offline", 14, "wrong_type"),
    ],
)
def test_a_model_that_can_not_be_built_is_refused(model: str, column: int, code: str):
    _, found = _read(f"model_groups:\n  - id: main\n    models: [{model}]\n")
    assert places(found)[0] == (f"3:{column}", code)


def test_rules_is_answered_with_what_took_its_place():
    _, found = _read("model_groups: [{id: m, models: [{provider: rules, file: x}]}]\n")
    ((_, code),) = places(found)
    assert code == "unknown_value"
    assert found[0].mend.startswith("write 'offline'")


def test_a_model_group_is_written_once_and_has_models():
    """K06: both places are named."""
    _, found = _read(
        "model_groups:\n  - {id: main, models: []}\n"
        "  - {id: main, models: [{provider: scripted}]}\n"
    )
    assert places(found) == [("2:5", "missing_key"), ("3:5", "duplicate_id")]
    assert "integrations.yml:2:5" in found[1].message
    _, found = _read("channels: {}\n")
    assert places(found) == [("1:1", "missing_key")]


def test_a_maestro_project_has_its_one_model_inline():
    """D1: it becomes the group ``default``."""
    read = _right("llm: {provider: openai, model: gpt, api_key: '${KEY}'}\n", {"KEY": "k"})
    assert read.is_maestro
    (model,) = read.model_groups["default"]
    assert (model.provider, model.model, model.option("api_key")) == ("openai", "gpt", "k")
    _, found = _read(
        "llm: {provider: offline}\nmodel_groups: [{id: default, models: [{provider: offline}]}]\n"
    )
    assert places(found) == [("2:16", "duplicate_id")]


# ------------------------------------------------------------------ channels


def test_every_key_of_a_channel_arrives():
    read = _right(
        SMALL
        + """\
channels:
  phone:
    asr: {name: scripted, latency_ms: 80}
    tts: {name: my.tts, voice: anna, speed: 1.5}
    interruptions:
      {enabled: false, onset_ms: 60, resume_ms: 300, hold_max_ms: 900, min_words: 2,
       backchannels: [ja, no], interrupt_words: []}
    turn_taking: {min_silence: 0.3, max_silence: 2400 ms}
    silence_timeout: 7
    pause_after_filler: 0
    pause_between_messages: 1.5
    public_url: https://x.example
    auth_token: ${TOKEN:-}
    max_calls: 4
  off: {enabled: false, asr: {name: deepgram, language_map: {en: x}}, background_audio: x.wav}
"""
    )
    assert read.voice.spec == ChannelSpec(
        name="phone",
        stt=EngineSpec("scripted", (("latency_ms", 80),)),
        tts=EngineSpec("my.tts", (("speed", 1.5),)),
        voice="anna",
        public_url="https://x.example",
        auth_token=None,
        max_calls=4,
    )
    assert read.voice.interruptions == dataclasses.replace(
        InterruptionSettings(),
        enabled=False,
        onset_ms=60,
        resume_ms=300,
        hold_max_ms=900,
        min_words=2,
        backchannels=("ja", "no"),
        interrupt_words=(),
    )
    assert read.voice.turn_taking == dataclasses.replace(
        TurnTakingSettings(), min_silence_ms=300, max_silence_ms=2400, collecting_max_ms=2400
    )
    assert read.voice.silence_timeout_ms == 7000
    assert (read.voice.pause_after_filler_ms, read.voice.pause_between_messages_ms) == (0, 1500)


@pytest.mark.parametrize(
    ("line", "column", "code"),
    [
        ("channels: {v: {asr: {name: deepgram}}}", 28, "unsupported"),
        ("channels: {v: {tts: {name: openai}}}", 28, "unsupported"),
        ("channels: {v: {asr: {language_map: {en: x}}}}", 22, "unsupported"),
        ("channels: {v: {background_audio: x.wav}}", 16, "unsupported"),
        ("channels: {v: {}, w: {}}", 19, "unsupported"),
        ("channels: {v: {asr: {name: lokal}}}", 28, "unknown_value"),
        ("channels: {v: {asr: local}}", 21, "wrong_type"),
        ("channels: {v: {turn_taking: {min_silence: 2, max_silence: 1}}}", 59, "out_of_range"),
        ("channels: {v: {interruptions: {onset_ms: 5}}}", 42, "out_of_range"),
        ("channels: {v: {interruptions: {min_words: '2'}}}", 43, "wrong_type"),
        ("channels: {v: {interruptions: {enabled: yes}}}", 41, "wrong_type"),
        ("channels: {v: {silence_timeout: 1:30}}", 33, "wrong_type"),
        ("channels: {v: {pause_after_filler: -1}}", 36, "out_of_range"),
        ("channels: {v: {max_calls: 1_000}}", 27, "wrong_type"),
        ("channels: {v: {auth_token: abc}}", 28, "literal_secret"),
        ("channels: {off: {enabled: false, asr: {name: lokal}}}", 46, "unknown_value"),
        ("channels: []", 11, "wrong_type"),
        ("chanels: {}", 1, "unknown_key"),
        ("tracker_store: {}", 1, "unsupported"),
        ("event_broker: {}", 1, "unsupported"),
        ("tracing: {}", 1, "unsupported"),
        ("metrics: {}", 1, "unsupported"),
        ("recordings: {}", 1, "unsupported"),
        ("<<: {a: 1}", 1, "unknown_key"),
    ],
)
def test_a_mistake_is_shown_at_its_place(line: str, column: int, code: str):
    """K01, K03: what this version has not is said so by name, never ignored silently."""
    _, found = _read(f"{SMALL}{line}\n")
    assert places(found) == [(f"2:{column}", code)]
    if code == "unsupported":
        assert "not supported yet in this version" in found[0].message


# ------------------------------------------------------------------ MCP servers


def test_every_key_of_an_mcp_server_arrives():
    """R6, S10: a server may have its own timeout and retries; the usual ones are 5, 10 and 30 s."""
    env = {"TOKEN": "t-1", "KEY": "k-1", "SECRET": "s-1"}
    read = _right(
        SMALL
        + """\
mcp_servers:
  - name: crm
    url: https://crm.example/mcp
    type: http
    token: ${TOKEN}
    tool_timeout: 2.5
    headers: {X-Team: desk, X-Api-Key: "k ${KEY}"}
    meta_map: {user: project.phone}
    pre_call_hook: lib.hooks:before
    init_retries: []
  - name: files.v1
    command: npx
    args: [-y, "8080"]
    init_retries: [1, 2.5]
  - name: keyed
    url: http://x/mcp
    api_key: ${KEY}
    header_name: X-Key
    header_format: "{key}"
  - name: open
    url: http://x/mcp
    oauth: {client_id: me, client_secret: "${SECRET}", token_url: "https://x/token", scope: read}
  - {name: own, url: "http://x/mcp", module: lib.auth:Login}
""",
        env,
    )
    servers = read.mcp_servers
    assert list(servers) == ["crm", "files.v1", "keyed", "open", "own"]
    assert servers["crm"] == McpServerSpec(
        name="crm",
        type="http",
        url="https://crm.example/mcp",
        token="t-1",
        headers=(("X-Team", "desk"), ("X-Api-Key", "k k-1")),
        meta_map=(("user", "project.phone"),),
        pre_call_hook="lib.hooks:before",
        tool_timeout_s=2.5,
        init_retries_s=(),
        place=Place(FILE, 3, 5),
    )
    files = servers["files.v1"]
    assert (files.type, files.command, files.args) == ("stdio", "npx", ("-y", "8080"))
    assert files.init_retries_s == (1.0, 2.5) and files.tool_timeout_s is None
    assert servers["keyed"].api_key == ApiKeyAuth("k-1", "X-Key", "{key}")
    assert servers["keyed"].init_retries_s == (5.0, 10.0, 30.0)
    assert servers["open"].oauth == OAuthSpec(
        client_id="me", client_secret="s-1", token_url="https://x/token", scope="read"
    )
    assert servers["own"].auth_module == "lib.auth:Login"
    assert not any(secret in repr(read) for secret in env.values())


_WEB = "name: a, url: 'http://x/mcp'"


@pytest.mark.parametrize(
    ("server", "place", "code"),
    [
        ("url: 'http://x'", "3:5", "missing_key"),
        ("name: a b, url: 'http://x'", "3:12", "bad_name"),
        ("name: a", "3:5", "missing_key"),
        ("name: a, url: x/mcp", "3:20", "bad_url"),
        ("name: a, url: 'https://me:pw@x/mcp'", "3:20", "bad_url"),
        ("name: a, url: 'http://x', command: npx", "3:32", "conflicting_keys"),
        (f"{_WEB}, args: [a]", "3:36", "misplaced_key"),
        (f"{_WEB}, type: htp", "3:42", "unknown_value"),
        (f"{_WEB}, type: stdio", "3:42", "conflicting_keys"),
        ("name: a, command: npx, type: http", "3:35", "conflicting_keys"),
        ("name: a, command: npx, token: '${T}'", "3:29", "conflicting_keys"),
        ("name: a, command: npx, headers: {a: b}", "3:29", "conflicting_keys"),
        (f"{_WEB}, token: '${{T}}', api_key: '${{T}}'", "3:51", "conflicting_keys"),
        (f"{_WEB}, module: a.b, token: '${{T}}'", "3:49", "conflicting_keys"),
        (f"{_WEB}, token: abc", "3:43", "literal_secret"),
        (f"{_WEB}, api_key: abc", "3:45", "literal_secret"),
        (f"{_WEB}, header_name: X-Key", "3:36", "misplaced_key"),
        (f"{_WEB}, api_key: '${{T}}', header_name: 'X Key'", "3:66", "bad_header"),
        (f"{_WEB}, api_key: '${{T}}', header_format: Bearer", "3:68", "bad_header"),
        (f"{_WEB}, headers: {{Authorization: Bearer abc}}", "3:61", "literal_secret"),
        (f"{_WEB}, headers: {{Cookie: '${{T:-abc}}'}}", "3:54", "literal_secret"),
        (f"{_WEB}, headers: {{'X Y': a}}", "3:46", "bad_header"),
        (f'{_WEB}, headers: {{X-Y: "a\\r\\nB: c"}}', "3:46", "bad_header"),
        (f"{_WEB}, oauth: {{client_id: a, client_secret: '${{T}}'}}", "3:43", "missing_key"),
        (
            f"{_WEB}, oauth: {{client_id: a, client_secret: b, token_url: 'http://x'}}",
            "3:73",
            "literal_secret",
        ),
        (f"{_WEB}, module: auth", "3:44", "unknown_value"),
        (f"{_WEB}, pre_call_hook: 'rm -rf'", "3:51", "unknown_value"),
        (f"{_WEB}, tool_timeout: 0", "3:50", "out_of_range"),
        (f"{_WEB}, tool_timeout: soon", "3:50", "wrong_type"),
        (f"{_WEB}, init_retries: 5", "3:50", "wrong_type"),
        (f"{_WEB}, init_retries: [5, -1]", "3:54", "out_of_range"),
        (f"{_WEB}, init_retries: [soon]", "3:51", "out_of_range"),
        (f"{_WEB}, tokens: x", "3:36", "unknown_key"),
    ],
)
def test_an_mcp_server_that_makes_no_sense_is_refused(server: str, place: str, code: str):
    """R13: exactly one way to reach it, at most one way to authenticate, secrets from outside."""
    _, found = _read(f"{SMALL}mcp_servers:\n  - {{{server}}}\n", {"T": "t"})
    assert places(found) == [(place, code)]
    assert "me:pw" not in f"{found[0]}"


def test_two_servers_of_one_name_are_refused():
    """R13: both places are named."""
    one = "  - {name: a, url: 'http://x'}\n"
    _, found = _read(f"{SMALL}mcp_servers:\n{one}{one}")
    assert places(found) == [("4:5", "duplicate_id")]
    assert "integrations.yml:3:5" in found[0].message


# ------------------------------------------------------------------ tool providers


def test_every_key_of_a_tool_provider_arrives():
    """S1, S3, S10, S16: module, patterns, and whatever the provider itself takes."""
    read = _right(
        SMALL
        + """\
tool_providers:
  calculator: {type: my_tools.calculator, allowed_functions: [add, "sub_.*"], digits: 3}
  my-mcp:
    type: slack_agents.tools.mcp_http
    url: https://x.example/mcp
    headers: {Authorization: "Bearer {MCP_API_TOKEN}"}
    allowed_functions: [".*"]
    init_retries: [1]
"""
    )
    assert read.tool_providers["calculator"] == ToolProviderSpec(
        id="calculator",
        type="my_tools.calculator",
        allowed_functions=("add", "sub_.*"),
        options=(("digits", 3),),
        place=Place(FILE, 3, 15),
    )
    other = read.tool_providers["my-mcp"]
    assert dict(other.options) == {
        "headers": {"Authorization": "Bearer {MCP_API_TOKEN}"},
        "url": "https://x.example/mcp",
        "init_retries": [1.0],
    }


@pytest.mark.parametrize(
    ("provider", "place", "code"),
    [
        ("{allowed_functions: [a]}", "3:6", "missing_key"),
        ("{type: a.b}", "3:6", "missing_key"),
        ("{type: a b, allowed_functions: [a]}", "3:13", "unknown_value"),
        ("{type: a.b, allowed_functions: a}", "3:37", "wrong_type"),
        ("{type: a.b, allowed_functions: ['a(']}", "3:38", "bad_pattern"),
        ("{type: a.b, allowed_functions: [[a]]}", "3:38", "bad_pattern"),
        ("{type: a.b, allowed_functions: [a], token: x}", "3:49", "literal_secret"),
        (
            "{type: a.b, allowed_functions: [a], headers: {Authorization: x}}",
            "3:67",
            "literal_secret",
        ),
        ("{type: a.b, allowed_functions: [a], url: x}", "3:47", "bad_url"),
        ("a.b", "3:6", "wrong_type"),
    ],
)
def test_a_tool_provider_that_makes_no_sense_is_refused(provider: str, place: str, code: str):
    _, found = _read(f"{SMALL}tool_providers:\n  p: {provider}\n")
    assert places(found)[0] == (place, code)


def test_a_provider_has_a_name_that_imports_can_write():
    _, found = _read(f"{SMALL}tool_providers: {{'a/b': {{}}}}\n")
    assert places(found) == [("2:18", "bad_name")]


@pytest.mark.parametrize("data", [b"", b"[]", b"a", b"\x00\x01", b"- - -\n", b"\xff\xfea\x00"])
def test_no_content_raises(data: bytes):
    read, found = read_with(lambda p: read_integrations(data, {}, p))
    assert found
    assert read.voice.spec == ChannelSpec()


@pytest.mark.parametrize(
    ("engine", "key"),
    [
        ("asr: {name: local, modell: x}", "asr.modell"),
        ("asr: {nam: local}", "asr.nam"),
        ("asr: {speed: 9}", "asr.speed"),
        ("asr: {name: scripted, voice: x}", "asr.voice"),
        ("asr: {name: scripted, accuracy: 1}", "asr.accuracy"),
        ("tts: {name: local, speed: 9}", "tts.speed"),
        ("tts: {name: scripted, texts: [a]}", "tts.texts"),
    ],
)
def test_our_own_engines_take_only_the_keys_they_read(engine: str, key: str):
    """K01: a mistyped key of an engine is no wish that is silently left out."""
    _, found = _read(SMALL + f"channels:\n  voice:\n    {engine}\n")
    assert [(p.code, p.message) for p in found] == [
        ("unknown_key", f"unknown key 'channels.voice.{key}'")
    ]
    assert found[0].place.line == 4 and found[0].mend


@pytest.mark.parametrize(
    "engine",
    [
        "asr: {name: scripted, texts: [hello], latency_ms: 80}",
        "tts: {name: scripted, ms_per_char: 50, latency_ms: 80, voice: x}",
        "tts: {name: local, voice: x}",
        "asr: {name: my.engine, what: ever}",
        "tts: {name: 'my.engine:Mouth', what: {e: ver}}",
    ],
)
def test_what_an_engine_reads_is_taken_and_an_authors_own_takes_anything(engine: str):
    assert _right(SMALL + f"channels: {{voice: {{{engine}}}}}\n")


@pytest.mark.parametrize(
    "url",
    ["foo", "'http://a b'", "wss://x.example", "'https://me:secret@x.example'",
     "'https://x.example?a=b'", "'https://x.example/#a'"],
)  # fmt: skip
def test_a_public_url_that_callers_could_not_reach_is_refused_at_load(url: str):
    """As the server would refuse it later, when it starts."""
    _, found = _read(SMALL + f"channels: {{voice: {{public_url: {url}}}}}\n")
    assert [p.code for p in found] == ["bad_url"]
    assert "secret" not in str(found[0]) and found[0].mend


@pytest.mark.parametrize("url", ["https://x.example", "http://10.0.0.1:8080/agent", "${NOPE:-}"])
def test_a_public_url_that_is_one_is_fine(url: str):
    assert _right(SMALL + f"channels: {{voice: {{public_url: '{url}'}}}}\n")


@pytest.mark.parametrize(
    "text",
    [
        "model_groups: {main: {models: []}}\n",
        "model_groups: main\n",
        "model_groups: [main]\n",
        "model_groups: [{id: main, models: {provider: offline}}]\n",
        "model_groups: [{id: main, models: offline}]\n",
    ],
)
def test_model_groups_of_another_shape_are_one_problem(text: str):
    """They are not missing beside it."""
    _, found = _read(text)
    assert [p.code for p in found] == ["wrong_type"]


def test_a_variable_in_braces_may_be_a_number():
    """Section 2: YAML wants it in quotes there, and it is a number all the same."""
    model = '{provider: openai, model: m, temperature: "${T}", max_tokens: "${N}", seed: 3}'
    read = _right(f"model_groups:\n  - id: main\n    models: [{model}]\n", {"T": "0.5", "N": "40"})
    (spec,) = read.model_groups["main"]
    assert (spec.option("temperature"), spec.option("max_tokens")) == (0.5, 40)
