"""What a tool module writes to memory by literal names, read from its text without running it.

Owns the recognising of ``context.memory.set("name", …)`` in its spellings, and of what no tool may
do to memory. Which names are declared is for the caller to say; what is not literal is checked when
it runs, by the tool context.

Recognised as the context: a parameter ``context``, one annotated ``ToolContext``, and what they are
assigned to; as memory: ``.memory`` of it or of a parameter without annotation, a parameter
``memory`` or one annotated ``MemorySlice``, and what they are assigned to. A name is followed
within its function and those inside it.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from runtime.errors import Place

__all__ = ["MemoryMisuse", "MemoryUse", "WrittenKey", "memory_use"]

_Kind = Literal["context", "memory", "set"]

_FORBIDDEN = frozenset({"clear", "delete", "manager", "pop", "remove", "reset", "tracker", "unset"})
"""Words in names that lead behind memory or end it; so does a ``_`` at the beginning."""

_PARAMETERS: Mapping[str, _Kind] = {"context": "context", "memory": "memory"}
_ANNOTATIONS: Mapping[str, _Kind] = {"ToolContext": "context", "MemorySlice": "memory"}
_OPEN_ANNOTATIONS = frozenset({"", "Any", "object"})
"""Annotations that leave open what a parameter named ``context`` or ``memory`` is."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True)
class WrittenKey:
    """One write with a literal name."""

    key: str
    """As written: bare or qualified."""
    place: Place
    """Of the name."""
    function: str
    """Where it stands: ``tool``, ``tool.inner``, ``Class.method``; empty at the top level."""


@dataclass(frozen=True, slots=True)
class MemoryMisuse:
    """One use of what is behind memory, or a try to clear it."""

    what: str
    """Such as ``memory.clear``."""
    place: Place
    function: str
    """As in ``WrittenKey``."""


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """All that one module does to memory, in the order of its lines."""

    writes: tuple[WrittenKey, ...] = ()
    misuses: tuple[MemoryMisuse, ...] = ()
    calls: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Function or class at the top level → those of the same module that it names."""

    def of(self, tool: str) -> "MemoryUse":
        """What a tool does, together with the functions of its module that it can reach."""
        reached: set[str] = set()
        ahead = [tool]
        while ahead:
            name = ahead.pop()
            if name not in reached:
                reached.add(name)
                ahead += self.calls.get(name, ())
        return MemoryUse(
            tuple(w for w in self.writes if w.function.partition(".")[0] in reached),
            tuple(m for m in self.misuses if m.function.partition(".")[0] in reached),
            self.calls,
        )


@lru_cache(maxsize=64)
def memory_use(source: bytes, file: str) -> MemoryUse:
    """Read one module's source.

    Args:
        source: The file's bytes.
        file: How places name it.

    Returns:
        What was found; nothing for a source that is no Python, which its import will say.
    """
    try:
        tree = ast.parse(source)
        reading = _Reading(file)
        reading.body(tree.body, _Scope("", None))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return MemoryUse()
    return MemoryUse(
        tuple(sorted(reading.writes, key=lambda w: w.place)),
        tuple(sorted(reading.misuses, key=lambda m: m.place)),
        _calls(tree),
    )


def _calls(tree: ast.Module) -> dict[str, frozenset[str]]:
    tops = {
        node.name: node
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    return {
        name: frozenset(n.id for n in ast.walk(top) if isinstance(n, ast.Name) and n.id in tops)
        for name, top in tops.items()
    }


# ------------------------------------------------------------------ names


class _Scope:
    """What the names in a function, and in those around it, stand for."""

    def __init__(self, function: str, outer: "_Scope | None") -> None:
        self.function = function
        self._outer = outer
        self._kinds: dict[str, _Kind | None] = {}
        """Names bound here; None = to something else."""
        self._open: set[str] = set()
        """Parameters of another name that could be the context: nothing says what they are."""

    def bind(self, name: str, kind: _Kind | None) -> None:
        """Note a binding; one to memory outweighs others of the same name."""
        self._kinds[name] = kind or self._kinds.get(name)

    def look_up(self, name: str) -> _Kind | None:
        """What a name or a dotted attribute stands for here."""
        if name in self._kinds:
            return self._kinds[name]
        return self._outer.look_up(name) if self._outer else None

    def kind_of(self, node: ast.expr | None) -> _Kind | None:
        """What an expression is, as far as it matters."""
        match node:
            case ast.Name(id=name):
                return self.look_up(name)
            case ast.Attribute(value=value, attr=attr):
                return self._attribute(value, attr) or self.look_up(_dotted(node))
            case ast.NamedExpr(value=value) | ast.Await(value=value):
                return self.kind_of(value)
            case ast.BoolOp(values=values):
                return next((kind for value in values if (kind := self.kind_of(value))), None)
            case ast.IfExp(body=body, orelse=orelse):
                return self.kind_of(body) or self.kind_of(orelse)
            case ast.Call(
                func=ast.Name(id="getattr"), args=[value, ast.Constant(value=str(attr)), *_]
            ):
                return self._attribute(value, attr)
            case ast.Call(func=ast.Name(id="cast"), args=[_, value]):
                return self.kind_of(value)
            case _:
                return None

    def _attribute(self, value: ast.expr, attr: str) -> _Kind | None:
        match self.kind_of(value), attr:
            case "context", "memory":
                return "memory"
            case "memory", "set":
                return "set"
            case None, "memory" if isinstance(value, ast.Name) and self._is_open(value.id):
                return "memory"
            case _:
                return None

    def _is_open(self, name: str) -> bool:
        if name in self._kinds:
            return name in self._open
        return self._outer is not None and self._outer._is_open(name)

    def inside(self, node: _Function) -> "_Scope":
        """The scope of a function's body."""
        name = "" if isinstance(node, ast.Lambda) else node.name
        scope = _Scope(".".join(filter(None, (self.function, name))), self)
        arguments = node.args
        for given in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            scope.bind(given.arg, _parameter_kind(given))
            if given.annotation is None and given.arg not in ("self", "cls"):
                scope._open.add(given.arg)
        for rest in (arguments.vararg, arguments.kwarg):
            if rest is not None:
                scope.bind(rest.arg, None)
        return scope


def _parameter_kind(parameter: ast.arg) -> _Kind | None:
    named = _annotated(parameter.annotation)
    for annotation, kind in _ANNOTATIONS.items():
        if annotation in named:
            return kind
    return _PARAMETERS.get(parameter.arg) if named <= _OPEN_ANNOTATIONS else None


def _annotated(node: ast.expr | None) -> set[str]:
    """The names in an annotation, with or without quotes, but for ``None`` and ``Optional``."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = ast.parse(node.value, mode="eval").body
        except (SyntaxError, ValueError):
            return {"?"}
    found: set[str] = set()
    for part in ast.walk(node) if node is not None else ():
        match part:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                found.add(name)
            case _:
                pass
    return found - {"Optional", "Annotated", "typing"}


def _dotted(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr):
            before = _dotted(value)
            return f"{before}.{attr}" if before else ""
        case _:
            return ""


# ------------------------------------------------------------------ statements


class _Reading:
    """One module being read."""

    def __init__(self, file: str) -> None:
        self.writes: list[WrittenKey] = []
        self.misuses: list[MemoryMisuse] = []
        self._file = file

    def body(self, statements: list[ast.stmt], scope: _Scope) -> None:
        """Read what stands in one scope, then what stands in the scopes inside of it."""
        nodes = [node for statement in statements for node in _within(statement)]
        # Twice: a name may be assigned from one whose own assignment stands below, in a loop.
        for _ in range(2):
            for node in nodes:
                self._bind(node, scope)
        for node in nodes:
            self._look_at(node, scope)
        for node in nodes:
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self.body(node.body, scope.inside(node))
                case ast.Lambda():
                    self.body([ast.Expr(node.body)], scope.inside(node))
                case ast.ClassDef():
                    self._class(node, scope)
                case _:
                    pass

    def _class(self, node: ast.ClassDef, scope: _Scope) -> None:
        function = ".".join(filter(None, (scope.function, node.name)))
        inner = _Scope(function, scope)
        # What one method keeps in ``self.memory`` another may use.
        for _ in range(2):
            for method in node.body:
                if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
                    self._keep(method, inner)
        self.body(node.body, inner)

    def _keep(self, method: ast.FunctionDef | ast.AsyncFunctionDef, scope: _Scope) -> None:
        inside = scope.inside(method)
        for node in (n for statement in method.body for n in _within(statement)):
            self._bind(node, inside)
            for target, value in _assigned(node):
                if isinstance(target, ast.Attribute) and (kind := inside.kind_of(value)):
                    scope.bind(_dotted(target), kind)

    def _bind(self, node: ast.AST, scope: _Scope) -> None:
        for target, value in _assigned(node):
            name = _dotted(target)
            if name:
                scope.bind(name, scope.kind_of(value))

    def _look_at(self, node: ast.AST, scope: _Scope) -> None:
        match node:
            case ast.Call(func=func) if scope.kind_of(func) == "set":
                self._write(node, scope)
            case ast.Call(
                func=ast.Name(id="getattr" | "setattr" | "delattr"),
                args=[value, ast.Constant(value=str(attr)), *_],
            ):
                self._member(value, attr, node, scope)
            case ast.Call(func=ast.Name(id="vars" | "dir"), args=[value]):
                self._member(value, "__dict__", node, scope)
            case ast.Attribute(value=value, attr=attr):
                self._member(value, attr, node, scope)
            case ast.Subscript(value=value, ctx=ast.Del() | ast.Store()):
                if scope.kind_of(value) == "memory":
                    self._misuse("memory[…]", node, scope)
            case ast.Delete(targets=targets):
                for target in targets:
                    if isinstance(target, ast.Attribute) and scope.kind_of(target) == "memory":
                        self._misuse("del context.memory", target, scope)
            case _:
                pass

    def _member(self, value: ast.expr, attr: str, node: ast.expr, scope: _Scope) -> None:
        kind = scope.kind_of(value)
        is_behind = attr.startswith("_") or not _FORBIDDEN.isdisjoint(attr.split("_"))
        if kind in ("memory", "context") and is_behind:
            self._misuse(f"{kind}.{attr}", node, scope)

    def _write(self, call: ast.Call, scope: _Scope) -> None:
        named = (keyword.value for keyword in call.keywords if keyword.arg == "name")
        key = call.args[0] if call.args else next(named, None)
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            self.writes.append(WrittenKey(key.value, self._place(key), scope.function))

    def _misuse(self, what: str, node: ast.expr, scope: _Scope) -> None:
        self.misuses.append(MemoryMisuse(what, self._place(node), scope.function))

    def _place(self, node: ast.expr) -> Place:
        return Place(self._file, node.lineno, node.col_offset + 1)


def _within(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it that belong to the same scope; inner scopes as they stand."""
    ahead = [node]
    while ahead:
        found = ahead.pop()
        yield found
        match found:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                ahead += [*found.decorator_list, *_given(found.args)]
            case ast.Lambda():
                ahead += _given(found.args)
            case ast.ClassDef():
                ahead += [*found.decorator_list, *found.bases]
            case _:
                ahead += ast.iter_child_nodes(found)


def _given(arguments: ast.arguments) -> list[ast.expr]:
    """Default values: they belong to the scope around."""
    return [*arguments.defaults, *(value for value in arguments.kw_defaults if value is not None)]


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Each single target that a node assigns to, with its value; None = not known."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _pairs(target, value)
        case ast.AnnAssign(target=target, value=value) if value is not None:
            yield target, value
        case ast.NamedExpr(target=target, value=value):
            yield target, value
        case ast.For(target=target) | ast.AsyncFor(target=target):
            yield from _pairs(target, None)
        case ast.comprehension(target=target):
            yield from _pairs(target, None)
        case ast.withitem(optional_vars=ast.expr() as target):
            yield from _pairs(target, None)
        case _:
            pass


def _pairs(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    if not isinstance(target, ast.Tuple | ast.List):
        yield target, value
        return
    values: list[ast.expr | None] = [None] * len(target.elts)
    if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(values):
        values = list(value.elts)
    for each, given in zip(target.elts, values, strict=True):
        yield from _pairs(each, given)
