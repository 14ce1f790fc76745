"""The reading and writing rules of memory, over a declared flat schema.

Owns how a name is resolved and what may be written; the values themselves live in the
conversation's state and change only through ``MemorySet`` facts. Names: a bare name is the active
skill's field, then the project's; ``project.<field>`` and ``<skill>.<field>`` are qualified;
``system.*`` is reserved.
"""

import copy
import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from typing import Any, cast

from runtime.agent import Json
from runtime.conversation.state import ConversationState, MemoryKey
from runtime.errors import MemoryWriteError, ProjectMemoryAlreadySetError
from runtime.project.model import Dialect, MemoryField
from runtime.project.skill_model import Access

__all__ = [
    "PROJECT",
    "MemorySchema",
    "accepts",
    "coerced",
    "masked",
    "read",
    "value_of",
    "writable",
]

PROJECT = "project"
_RESERVED = "system"


class MemorySchema:
    """The declared fields, by qualified name."""

    def __init__(
        self,
        fields: Iterable[MemoryField],
        access: Mapping[str, Access] | None = None,
        dialect: Dialect = "mantle",
    ) -> None:
        """Index the fields; names are unique within their namespace.

        Args:
            fields: Everything declared.
            access: By skill, what it may not read or write.
            dialect: A Maestro project's fields may be written again unless immutable.
        """
        self._access = access or {}
        self.dialect: Dialect = dialect
        self._fields: dict[MemoryKey, MemoryField] = {(f.namespace, f.name): f for f in fields}

    @property
    def fields(self) -> tuple[MemoryField, ...]:
        """All fields in the order they were declared."""
        return tuple(self._fields.values())

    def field(self, namespace: str, name: str) -> MemoryField | None:
        """The field of that qualified name."""
        return self._fields.get((namespace, name))

    def readable(self, name: str, skill: str) -> MemoryField | None:
        """Resolve a name for reading while ``skill`` is active; None = nothing to be read."""
        namespace, _, rest = name.rpartition(".")
        if not namespace:
            found = self.field(skill, name) or self.field(PROJECT, name)
        else:
            found = self.field(namespace, rest)
        return found if found is not None and self.is_readable(found, skill) else None

    def is_readable(self, field: MemoryField, skill: str) -> bool:
        """Whether ``skill`` may know the field: its own, others' public ones, the project's."""
        if field.private and field.namespace != skill:
            return False
        denied = self._access.get(skill)
        return denied is None or _label(field) not in denied.deny_read

    def is_denied(self, field: MemoryField, skill: str) -> bool:
        """Whether ``access.deny_write`` keeps ``skill`` from writing the field."""
        denied = self._access.get(skill)
        return denied is not None and _label(field) in denied.deny_write

    def settable(self, skill: str) -> tuple[MemoryField, ...]:
        """The fields that the model may set while ``skill`` is active."""
        return tuple(
            f
            for f in self._fields.values()
            if (f.llm_settable or f.collected)
            and f.namespace in (skill, PROJECT)
            and not self.is_denied(f, skill)
        )


def read(
    schema: MemorySchema, state: ConversationState, name: object, skill: str, default: Any = None
) -> Any:
    """Return a value, or ``default`` when it is unset, ``None`` or not readable. Never raises.

    Containers are copies: memory changes only through a write.
    """
    found = schema.readable(name, skill) if isinstance(name, str) else None
    if found is None:
        return default
    value = value_of(state, found)
    return default if value is None else copy.deepcopy(value)


def masked(schema: MemorySchema, state: ConversationState, text: str) -> str:
    """A JSON text in which the present values of personal fields are shown as ``[set]``."""
    values = [value_of(state, field) for field in schema.fields if field.pii]
    # As texts as well: an ``int`` field may be passed on as digits, and the other way round.
    personal = {
        str(value): None
        for value in values
        if isinstance(value, str | int | float | list | dict) and value not in ("", True, False)
    }
    if not personal:
        return text
    try:
        tree = cast("Json", json.loads(text))
    except ValueError:
        return text
    return json.dumps(_without(tree, personal), ensure_ascii=False)


_LEAST_PERSONAL = 4
"""Characters from which on a personal value is looked for within longer texts too."""


def _without(tree: Json, personal: Collection[str]) -> Json:
    if tree not in (None, True, False) and str(tree) in personal:
        return "[set]"
    if isinstance(tree, str):
        for value in personal:
            if len(value) >= _LEAST_PERSONAL:
                tree = tree.replace(value, "[set]")
        return tree
    if isinstance(tree, list):
        return [_without(item, personal) for item in tree]
    if isinstance(tree, dict):
        return {key: _without(item, personal) for key, item in tree.items()}
    return tree


def value_of(state: ConversationState, field: MemoryField) -> Json:
    """The present value of a declared field."""
    return state.memory.get((field.namespace, field.name), field.initial_value)


def writable(
    schema: MemorySchema, state: ConversationState, name: object, value: object, skill: str
) -> tuple[MemoryField, str]:
    """Resolve a name for writing and bring the value to JSON text.

    Returns:
        The field and the text to be stored.

    Raises:
        MemoryWriteError: undeclared, another skill's, reserved, or of the wrong type.
        ProjectMemoryAlreadySetError: the project field holds a value already.
    """
    field = _writable_field(schema, name, skill)
    text = _json_text(field, value)
    if not accepts(field, value):
        raise MemoryWriteError(f"{_label(field)} takes {_wanted(field)}")
    if schema.is_denied(field, skill):
        raise MemoryWriteError(f"{_label(field)} must not be written here (access.deny_write)")
    if state.memory.get((field.namespace, field.name)) is not None:
        if field.immutable:
            raise MemoryWriteError(f"{_label(field)} is immutable and already set")
        if field.namespace == PROJECT and schema.dialect == "mantle":
            raise ProjectMemoryAlreadySetError(f"{_label(field)} is already set")
    return field, text


def coerced(field: MemoryField, value: object) -> object:
    """A value as its field takes it, where a model or a caller wrote it loosely.

    Only what means the same is changed: ``"4"`` for an int, ``"yes"`` for a bool, another case of
    an enum value, a number for a text. Anything else is returned as it came, to be refused.
    """
    if isinstance(value, str):
        word = value.strip()
        match field.type:
            case "int" if _is_int(word):
                return int(word)
            case "float" if _is_float(word):
                return float(word)
            case "bool" if word.casefold() in _BOOL_WORDS:
                return _BOOL_WORDS[word.casefold()]
            case "categorical":
                same = [v for v in field.enum_values if v.casefold() == word.casefold()]
                return same[0] if len(same) == 1 else value
            case _:
                return unicodedata.normalize("NFC", value)
    if field.type == "text" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if field.type == "int" and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


_BOOL_WORDS = {"true": True, "yes": True, "false": False, "no": False}
_MOST_DIGITS = 300


def _is_int(text: str) -> bool:
    return len(text) < _MOST_DIGITS and re.fullmatch(r"[-+]?[0-9]+", text) is not None


def _is_float(text: str) -> bool:
    number = re.fullmatch(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)", text)
    return len(text) < _MOST_DIGITS and number is not None


def accepts(field: MemoryField, value: object) -> bool:
    """Whether a JSON value fits the field's declared type; ``None`` clears and always fits."""
    if value is None:
        return True
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match field.type:
        case "text":
            return isinstance(value, str)
        case "categorical":
            return value in field.enum_values
        case "bool":
            return isinstance(value, bool)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case "float":
            return number
        case "list":
            return isinstance(value, list)
        case "json" | "any":
            return True


def _writable_field(schema: MemorySchema, name: object, skill: str) -> MemoryField:
    if not isinstance(name, str):
        raise MemoryWriteError("a memory name is a string")
    namespace, _, rest = name.rpartition(".")
    if namespace and schema.dialect == "maestro" and namespace != _RESERVED:
        raise MemoryWriteError(f"{name}: a write names its field alone, as in {rest}")
    if namespace == _RESERVED or name == _RESERVED:
        raise MemoryWriteError("system.* is reserved")
    if namespace not in ("", PROJECT, skill):
        raise MemoryWriteError(
            f"{name}: only fields of {skill} and of the project can be written here"
        )
    if namespace:
        found = schema.field(namespace, rest)
    else:
        found = schema.field(skill, name) or schema.field(PROJECT, name)
    if found is None:
        raise MemoryWriteError(f"{name} is not declared in memory.yml")
    return found


def _json_text(field: MemoryField, value: object) -> str:
    if not _is_plain(value):
        raise MemoryWriteError(f"{_label(field)} takes a JSON value")
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        # A lone surrogate can't be stored: what is live is what will be read back.
        return text.encode("utf-8", "replace").decode("utf-8")
    except (TypeError, ValueError, RecursionError):
        raise MemoryWriteError(f"{_label(field)} takes a JSON value") from None


def _is_plain(value: object, depth: int = 0) -> bool:
    """Whether writing and reading the value as JSON gives it back (string keys, lists)."""
    if value is None or isinstance(value, bool | int | float | str):
        return True
    if depth > 60:
        return False
    if isinstance(value, list):
        return all(_is_plain(item, depth + 1) for item in cast("list[object]", value))
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value).items()
        return all(isinstance(k, str) and _is_plain(v, depth + 1) for k, v in pairs)
    return False


def _wanted(field: MemoryField) -> str:
    if field.type == "categorical":
        return f"one of {', '.join(field.enum_values)}"
    return f"a value of type {field.type}"


def _label(field: MemoryField) -> str:
    return f"{field.namespace}.{field.name}"
