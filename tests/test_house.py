"""The rules of the house that a linter does not know: who imports whom, what is pure, how long.

ARCHITECTURE.md section 2 says why. Each failure names the place and what to do about it.
"""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

INNER = ("audio", "floor", "hearing", "speaking", "wire", "call")
DOOR = ("runtime.agent", "runtime.errors", "runtime.tasks")
"""All that a room of voice sees of the runtime."""

MAY_IMPORT = {
    "audio": ("runtime.errors",),
    "floor": ("voice.audio.format", "runtime.agent", "runtime.errors"),
    "wire": ("voice.audio", *DOOR),
    "hearing": ("voice.audio", "voice.floor.events", "voice.workers", *DOOR),
    "speaking": ("voice.audio", "voice.floor.events", "voice.workers", *DOOR),
    "workers": ("runtime.errors",),
    "call": (*(f"voice.{room}" for room in INNER), *DOOR),
    "replay": (*(f"voice.{room}" for room in INNER), "runtime"),
    "gateway": (*(f"voice.{room}" for room in INNER), "runtime"),
    "cli": ("voice", "runtime"),
    "testing": ("voice.audio", "voice.floor.events", "voice.hearing", "voice.speaking", *DOOR),
}
"""What each room of voice may import beside itself: these modules and what is below them."""

PURE = (
    "voice/audio/*.py",
    "voice/floor/*.py",
    "voice/wire/*.py",
    "voice/speaking/wording*.py",
    "voice/speaking/chunks*.py",
    "voice/speaking/playback*.py",
    "runtime/conversation/*.py",
    "runtime/project/conditions.py",
)
READS_FILES = "voice/audio/files.py"
"""The one pure module that may touch files."""

IMPURE_MODULES = {
    "asyncio": "post an event and let the call's driver act",
    "concurrent": "hand the work to a worker outside the room",
    "multiprocessing": "hand the work to a worker outside the room",
    "threading": "hand the work to a worker outside the room",
    "subprocess": "hand the work to a worker outside the room",
    "time": "take `now` as an argument",
    "datetime": "take the date as an argument",
    "random": "take the choice or a seed as an argument",
    "secrets": "take the choice or a seed as an argument",
    "uuid": "take the id as an argument",
    "socket": "take bytes as an argument",
    "ssl": "take bytes as an argument",
    "http": "take bytes as an argument",
    "urllib.request": "take bytes as an argument",
    "logging.handlers": "return what happened; the driver logs it",
}
FILE_MODULES = ("io", "os", "pathlib", "shutil", "tempfile", "importlib.resources")
MAX_MODULE_LINES = 500
MAX_FUNCTION_LINES = 60

# written in two halves, so that this file names none
REGISTRY_HOSTS = tuple(
    ".".join(parts)
    for parts in (
        *(("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com")),
        *(("yarnpkg", "com"), ("crates", "io"), ("proxy.golang", "org"), ("anaconda", "org")),
    )
)


def modules(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def place(path: Path, node: ast.AST | None = None) -> str:
    name = str(path.relative_to(ROOT))
    return name if node is None else f"{name}:{getattr(node, 'lineno', 0)}"


def imports(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Each module or name that is imported, dotted; ``from a import b`` gives ``a.b``."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=0):
                yield from ((node, f"{module}.{alias.name}") for alias in names)
            case ast.ImportFrom():
                yield node, "."
            case _:
                pass


def is_below(name: str, roots: tuple[str, ...]) -> bool:
    return any(name == root or name.startswith(root + ".") for root in roots)


def import_faults(module: str, tree: ast.Module) -> list[tuple[ast.AST, str]]:
    """What a module of ours imports against the rules, and what to do instead."""
    parts = module.split(".")
    found: list[tuple[ast.AST, str]] = []
    for node, name in imports(tree):
        if name == ".":
            found.append((node, "a relative import: write the full name"))
        elif parts[0] == "runtime" and is_below(name, ("voice",)):
            found.append((node, f"{name}: the runtime knows no sound; pass it a message instead"))
        elif parts[0] == "voice" and is_below(name, ("voice", "runtime")) and len(parts) > 1:
            room = parts[1]
            allowed = (f"voice.{room}", *MAY_IMPORT.get(room, ()))
            if not is_below(name, allowed):
                found.append(
                    (node, f"{name}: voice.{room} may import {', '.join(allowed)}; move the shared "
                     "part inwards, or take it as an argument")
                )  # fmt: skip
    return found


def purity_faults(tree: ast.Module, *, may_read_files: bool) -> list[tuple[ast.AST, str]]:
    """What makes a module depend on more than its arguments."""
    found = [
        (node, f"imports {module}: {instead}")
        for node, name in imports(tree)
        for module, instead in IMPURE_MODULES.items()
        if is_below(name, (module,))
    ]
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr="random"):
                found.append((node, "draws random numbers: take a seed as an argument"))
            case ast.AsyncFunctionDef() | ast.Await() | ast.AsyncFor() | ast.AsyncWith():
                found.append((node, "waits: pure code answers at once; let the driver wait"))
            case ast.Call(func=ast.Name(id="open" | "print" | "input" as call)):
                if not may_read_files:
                    found.append((node, f"calls {call}(): take the content as an argument"))
            case _:
                pass
    if not may_read_files:
        found += [
            (node, f"imports {name}: files belong to {READS_FILES} or to an outer room")
            for node, name in imports(tree)
            if is_below(name, FILE_MODULES)
        ]
    return found


def long_functions(tree: ast.Module) -> list[tuple[ast.AST, str]]:
    return [
        (node, f"{node.name} has {lines} lines: split it, {MAX_FUNCTION_LINES} is the limit")
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if (lines := (node.end_lineno or 0) - node.lineno + 1) > MAX_FUNCTION_LINES
    ]


def kept_files() -> list[Path]:
    """What git tracks, or would with the next commit."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    names = listed.stdout.decode("utf-8").split("\0")
    return [path for name in names if name and (path := ROOT / name).is_file()]


def report(faults: list[str]) -> None:
    assert not faults, "\n".join(["", *faults])


def test_every_room_imports_only_what_it_may() -> None:
    """ARCHITECTURE.md section 2: imports point inwards, and voice sees the runtime's door only."""
    report(
        [
            f"{place(path, node)}: imports {fault}"
            for path in modules("voice", "runtime")
            for node, fault in import_faults(
                ".".join(path.relative_to(ROOT).with_suffix("").parts), parsed(path)
            )
        ]
    )


def test_every_room_of_voice_has_its_rule() -> None:
    """A new room is a decision: say here what it may import."""
    rooms = {p.name for p in (ROOT / "voice").iterdir() if (p / "__init__.py").exists()}
    assert rooms <= set(MAY_IMPORT), "add the new room to MAY_IMPORT and to ARCHITECTURE.md"


def test_pure_rooms_depend_on_their_arguments_alone() -> None:
    """ARCHITECTURE.md section 2: no clock, no task, no chance, no socket, no file."""
    paths = sorted({path for pattern in PURE for path in ROOT.glob(pattern)})
    assert paths
    report(
        [
            f"{place(path, node)}: {fault}"
            for path in paths
            for node, fault in purity_faults(
                parsed(path), may_read_files=place(path) == READS_FILES
            )
        ]
    )


def test_no_module_is_longer_than_one_subject() -> None:
    report(
        [
            f"{place(path)}: {lines} lines: split it by subject, {MAX_MODULE_LINES} is the limit"
            for path in modules("voice", "runtime", "bench")
            if (lines := path.read_text(encoding="utf-8").count("\n")) > MAX_MODULE_LINES
        ]
    )


def test_no_function_is_longer_than_a_page() -> None:
    report(
        [
            f"{place(path, node)}: {fault}"
            for path in modules("voice", "runtime", "bench")
            for node, fault in long_functions(parsed(path))
        ]
    )


def test_every_module_says_what_it_owns() -> None:
    """An empty ``__init__`` owns nothing and says nothing."""
    report(
        [
            f"{place(path)}: no docstring: say what it owns, what it does not, and where that is"
            for path in modules("voice", "runtime", "bench")
            if (tree := parsed(path)).body and not ast.get_docstring(tree)
        ]
    )


def test_no_file_names_a_package_registry() -> None:
    """Which registry a machine uses is that machine's setting."""
    report(
        [
            f"{place(path)}: names {host}: leave it out, pip knows its registry by itself"
            for path in kept_files()
            for host in REGISTRY_HOSTS
            if host.encode() in path.read_bytes()
        ]
    )


def test_the_lock_pins_every_package_and_no_address() -> None:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    assert len(pins) > 30
    report([f"requirements.lock: {line}: no exact pin" for line in pins if "==" not in line])
    report([f"requirements.lock: {line}: an address" for line in lines if "://" in line])
    report([f"requirements.lock: {line}: an option" for line in pins if line.startswith("-")])


@pytest.mark.parametrize(
    ("module", "code", "fault"),
    [
        ("runtime.engine.turn", "import voice.audio.codec", "knows no sound"),
        ("voice.floor.gate", "from voice.hearing import ear", "voice.floor may import"),
        ("voice.floor.gate", "from voice.audio.codec import to_linear", "voice.floor may import"),
        ("voice.call.driver", "from runtime.engine.turn import Turn", "voice.call may import"),
        ("voice.call.driver", "import voice.gateway.app", "voice.call may import"),
        ("voice.hearing.ear", "from voice.floor.floor import Floor", "voice.hearing may import"),
        ("voice.wire.twilio", "from . import events", "write the full name"),
    ],
)
def test_a_forbidden_import_is_found(module: str, code: str, fault: str) -> None:
    ((_, said),) = import_faults(module, ast.parse(code))
    assert fault in said


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("voice.floor.gate", "from runtime.agent import Say\nimport math"),
        ("voice.hearing.ear", "from voice.floor.events import VoiceStarted"),
        ("voice.gateway.app", "from voice.call.driver import Call\nimport runtime.project.loader"),
        ("voice.cli.main", "from voice.replay.runner import run"),
    ],
)
def test_an_allowed_import_is_left_alone(module: str, code: str) -> None:
    assert import_faults(module, ast.parse(code)) == []


@pytest.mark.parametrize(
    "code",
    [
        "import time",
        "from asyncio import Queue",
        "import random",
        "import logging.handlers",
        "from pathlib import Path",
        "open('x')",
        "import numpy as np\nnp.random.rand()",
        "async def f(): ...",
    ],
)
def test_impure_code_is_found(code: str) -> None:
    assert len(purity_faults(ast.parse(code), may_read_files=False)) == 1


def test_a_long_function_is_found() -> None:
    body = "def f():\n" + "    x = 1\n" * MAX_FUNCTION_LINES
    assert len(long_functions(ast.parse(body))) == 1
    assert long_functions(ast.parse(body.removesuffix("    x = 1\n"))) == []
