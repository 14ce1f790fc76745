"""Arguments that the author's function gets as something else than JSON.

Owns the kinds of them: a choice of a ``Literal`` or an ``Enum``, and what pydantic knows how to
read. Each turns JSON into the value that the annotation promises, and a default into JSON, so that
calls that mean the same have the same arguments. Which annotation is of which kind is ``schema``.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, cast

from runtime.agent import Json
from runtime.tools.arguments import canonical_json

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["Choices", "Kind", "Rich", "read_or_none", "read_values"]

_MAX_REASON_CHARS = 200


class Kind(Protocol):
    """How values of one parameter are read and written."""

    def read(self, value: Json) -> object:
        """The value of the annotated type.

        Raises:
            ValueError: it is none; the text is for the model.
        """
        ...

    def write(self, value: object) -> Json:
        """A value as JSON; None when it can't be written."""
        ...


class Choices:
    """Strings that each stand for one value."""

    def __init__(self, choices: Mapping[str, object]) -> None:
        """Read by a table from what is written to what is meant."""
        self._choices = dict(choices)

    def read(self, value: Json) -> object:
        """The value that a string stands for."""
        if isinstance(value, str) and value in self._choices:
            return self._choices[value]
        raise ValueError(f"must be one of {', '.join(self._choices)}")

    def write(self, value: object) -> Json:
        """The string that stands for a value."""
        for text, meant in self._choices.items():
            if meant is value or (type(meant) is type(value) and meant == value):
                return text
        return None


class Rich:
    """What pydantic reads: models, ``dict[str, int]``, dates, lists of such."""

    def __init__(self, adapter: "TypeAdapter[Any]") -> None:
        """Read with pydantic's own rules."""
        self._adapter = adapter

    @classmethod
    def of(cls, hint: object) -> "Rich | None":
        """The kind of an annotation; None when pydantic can't read it or it has no schema."""
        from pydantic import TypeAdapter

        try:
            adapter: TypeAdapter[Any] = TypeAdapter(cast("Any", hint))
            adapter.json_schema()
        except Exception:  # pydantic's own errors, and those of author's code that it calls
            return None
        return cls(adapter)

    @staticmethod
    def complete(schemas: dict[str, dict[str, Json]], kinds: Mapping[str, Kind]) -> dict[str, Json]:
        """Write the schemas of rich parameters into ``schemas``; return what they share.

        Made together, since their references point to one table at the root.
        """
        rich = {name: kind for name, kind in kinds.items() if isinstance(kind, Rich)}
        if not rich:
            return {}
        from pydantic import TypeAdapter

        found, shared = TypeAdapter.json_schemas(
            [(name, "validation", kind._adapter) for name, kind in rich.items()]
        )
        for (name, _), schema in found.items():
            schemas[str(name)] = schema
        return cast("dict[str, Json]", shared.get("$defs", {}))

    def read(self, value: Json) -> object:
        """The value as pydantic makes it of JSON."""
        from pydantic import ValidationError

        try:
            return self._adapter.validate_json(canonical_json(value))
        except ValidationError as error:
            raise ValueError(_reason(error)) from None
        except Exception:  # a validator is author's code; its text may hold the value
            raise ValueError("can't be read") from None

    def write(self, value: object) -> Json:
        """A value as JSON; None when pydantic can't write it."""
        try:
            return cast("Json", self._adapter.dump_python(value, mode="json", by_alias=True))
        except Exception:
            return None


def read_values(values: Mapping[str, Any], kinds: Mapping[str, Kind]) -> dict[str, Any]:
    """Arguments as the function gets them.

    Raises:
        ValueError: one can't be read; names it.
    """
    return {name: _read(name, value, kinds.get(name)) for name, value in values.items()}


def read_or_none(kind: Kind, value: Json) -> object:
    """What a kind reads; None when it can't."""
    try:
        return kind.read(value)
    except ValueError:
        return None


def _read(name: str, value: Any, kind: Kind | None) -> Any:
    # None is the default of an argument that was left out: no schema lets a model write it.
    if kind is None or value is None:
        return value
    try:
        return kind.read(value)
    except ValueError as reason:
        raise ValueError(f"{name}: {reason}") from None


def _reason(error: Any) -> str:
    """What pydantic says of the first fault, without the value."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    text = f"{where}: {first['msg']}" if where else str(first["msg"])
    return text[:_MAX_REASON_CHARS]
