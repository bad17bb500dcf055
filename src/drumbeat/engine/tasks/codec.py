"""The codec: arguments and results as JSON, typed by the handler's annotations.

Arguments travel as one object by parameter name, so that a job in the store can be read by people
and survives a change in the order of parameters. They are checked against the annotations when
they are submitted, by reading back what was written: what a worker will refuse is refused here.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import GenericAlias
from typing import Any

import msgspec

from drumbeat.model.encoding.json_depth import MOST_DEPTH, is_deeper, refuse_deep_arguments
from drumbeat.model.errors import (
    InvalidArguments,
    InvalidHandler,
    OversizedArguments,
    UnserialisableArguments,
)
from drumbeat.model.jobs.job import ARGUMENTS_LIMIT, RESULT_LIMIT

Parameter = inspect.Parameter
_UNION: Any = typing.Union  # built from values that only exist at run time


def _to_json(value: object) -> object:
    dump = getattr(value, "model_dump", None)
    if callable(dump):  # a pydantic model, without importing pydantic
        return dump(mode="json")
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")


def _from_json(kind: Any, value: object) -> object:
    validate = getattr(kind, "model_validate", None)
    if callable(validate):
        return validate(value)
    raise NotImplementedError(f"a {kind!r} cannot be read from JSON")  # as msgspec's hooks are to


_ENCODER = msgspec.json.Encoder(enc_hook=_to_json)


def encode(value: object) -> bytes:
    """The value as JSON; `TypeError` if JSON cannot represent it."""
    return _ENCODER.encode(value)


@dataclass(frozen=True, slots=True)
class Unstorable:
    """A result that is not kept: JSON cannot carry it, or it is too large."""

    why: str


def encode_result(result: object) -> bytes | Unstorable | None:
    """The result of a handler as it is stored; None is stored as None."""
    if result is None:
        return None
    try:
        encoded = encode(result)
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        return Unstorable(str(error))
    if len(encoded) > RESULT_LIMIT:
        return Unstorable(f"it takes {len(encoded):,} bytes as JSON, {RESULT_LIMIT:,} are kept")
    if is_deeper(encoded):
        return Unstorable(f"it is nested more than {MOST_DEPTH} levels deep")
    return encoded


class Codec:
    """Reads and writes the arguments and the result of one task."""

    __slots__ = (
        "_decoder",
        "_known",
        "_names",
        "_result",
        "_simple",
        "_task",
        "_various",
        "signature",
        "single",
    )

    def __init__(self, task: str, parameters: tuple[Parameter, ...], hints: Mapping[str, Any]):
        self._task = task
        self.signature = inspect.Signature(
            [each.replace(annotation=hints.get(each.name, each.annotation)) for each in parameters]
        )
        self._names = tuple(parameter.name for parameter in parameters)
        self._known = frozenset(self._names)
        self._simple = all(
            parameter.kind is Parameter.POSITIONAL_OR_KEYWORD for parameter in parameters
        )
        self.single = frozenset(
            parameter.name
            for parameter in parameters
            if parameter.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        )
        """The parameters that take one argument each."""
        self._various = tuple((parameter.name, parameter.kind) for parameter in parameters)
        try:
            shape = msgspec.defstruct(
                "Arguments",
                [_field(parameter, hints) for parameter in parameters],
                forbid_unknown_fields=True,
                kw_only=True,
                rename=None,
            )
            self._decoder = msgspec.json.Decoder(shape, dec_hook=_from_json)
            self._result = msgspec.json.Decoder(hints.get("return", Any), dec_hook=_from_json)
        except TypeError as error:
            raise InvalidHandler(
                f"task {task!r} has an annotation that JSON cannot carry: {error}"
            ) from error

    def encode(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bytes:
        """The arguments of a call as JSON, checked against the handler's annotations."""
        if self._simple and not kwargs and len(args) == len(self._names):
            given: Mapping[str, object] = dict(zip(self._names, args, strict=True))
        elif self._simple and not args and self._takes_just(kwargs):
            given = {name: kwargs[name] for name in self._names}
        else:
            given = self._bind(args, kwargs)
        payload = self._write(given)
        if len(payload) > ARGUMENTS_LIMIT:
            raise OversizedArguments(self._task, len(payload), ARGUMENTS_LIMIT)
        refuse_deep_arguments(self._task, payload)
        self._read(payload)
        return payload

    def _takes_just(self, named: Mapping[str, Any]) -> bool:
        return len(named) == len(self._known) and self._known.issuperset(named)

    def decode(self, payload: bytes) -> tuple[list[Any], dict[str, Any]]:
        """The positional and the named arguments; `InvalidArguments` if they do not fit."""
        shape = self._read(payload)
        if self._simple:
            named = {
                name: value
                for name in self._names
                if (value := getattr(shape, name)) is not msgspec.UNSET
            }
            return [], named
        return self._unpack(shape)

    def by_name(self, payload: bytes) -> dict[str, Any]:
        """The arguments by parameter name, including defaults."""
        shape = self._read(payload)
        given = {name: getattr(shape, name) for name in self._names}
        return {
            name: self.signature.parameters[name].default if value is msgspec.UNSET else value
            for name, value in given.items()
        }

    def decode_result(self, payload: bytes) -> Any:
        """What the handler returned, typed by its annotation."""
        return self._result.decode(payload)

    def _bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, object]:
        try:
            return self.signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise InvalidArguments(
                f"task {self._task!r}: {error}; it takes {self.signature}"
            ) from None

    def _write(self, given: Mapping[str, object]) -> bytes:
        try:
            return encode(given)
        except (TypeError, ValueError, RecursionError, OverflowError) as error:
            culprit = next((name for name, value in given.items() if not _writable(value)), None)
            where = f"argument {culprit!r} of task" if culprit else "the arguments of task"
            raise UnserialisableArguments(
                f"{where} {self._task!r} cannot be written as JSON: {error}; use plain values, "
                f"dataclasses, datetime, UUID, Decimal, enums, msgspec structs or pydantic models"
            ) from error

    def _read(self, payload: bytes) -> object:
        try:
            return self._decoder.decode(payload)
        except (
            msgspec.DecodeError,
            ValueError,
            TypeError,
            NotImplementedError,
            RecursionError,
        ) as error:
            raise InvalidArguments(
                f"task {self._task!r}: {error}; it takes {self.signature}"
            ) from None

    def _unpack(self, shape: object) -> tuple[list[Any], dict[str, Any]]:
        positional: list[Any] = []
        named: dict[str, Any] = {}
        gap = False  # arguments after a missing one must be passed by name
        for name, kind in self._various:
            value = getattr(shape, name)
            if value is msgspec.UNSET:
                gap = True
                continue
            match kind:
                case Parameter.POSITIONAL_OR_KEYWORD if gap:
                    named[name] = value
                case Parameter.VAR_POSITIONAL:
                    positional.extend(value)
                case Parameter.VAR_KEYWORD:
                    named.update(value)
                case Parameter.KEYWORD_ONLY:
                    named[name] = value
                case _:
                    positional.append(value)
        return positional, named


def _field(parameter: Parameter, hints: Mapping[str, Any]) -> tuple[str, Any, Any]:
    annotation = hints.get(parameter.name, Any)
    match parameter.kind:
        case Parameter.VAR_POSITIONAL:
            annotation = GenericAlias(list, (annotation,))
        case Parameter.VAR_KEYWORD:
            annotation = GenericAlias(dict, (str, annotation))
        case _ if parameter.default is Parameter.empty:
            return (parameter.name, annotation, msgspec.NODEFAULT)
        case _:
            pass
    # What was not given stays unset, so that the handler's own default applies.
    optional = Any if annotation is Any else _UNION[annotation, msgspec.UnsetType]
    return (parameter.name, optional, msgspec.UNSET)


def _writable(value: object) -> bool:
    try:
        encode(value)
    except (TypeError, ValueError, RecursionError, OverflowError):
        return False
    return True


def hints_of(task: str, handler: Callable[..., object]) -> dict[str, Any]:
    """The handler's annotations, resolved; `InvalidHandler` if a name does not exist."""
    try:
        return typing.get_type_hints(handler, include_extras=True)
    except NameError as error:
        raise InvalidHandler(
            f"task {task!r} has an annotation that cannot be resolved: {error}; "
            f"import that name at the top of its module, outside of TYPE_CHECKING"
        ) from None
