"""Reading values out of decoded JSON, with errors that name the field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TypeGuard, TypeVar, cast

from drumbeat.model.errors import InvalidInput, InvalidTrigger
from drumbeat.model.time.instant import aware
from drumbeat.model.time.zones import DstGap, DstRepeat, zone_name

Read = TypeVar("Read")


def whole(length: timedelta) -> int | float:
    """A duration in seconds, as an integer if possible."""
    seconds = length.total_seconds()
    return int(seconds) if seconds.is_integer() else seconds


def known(**values: object) -> dict[str, object]:
    """The values that are not None: an absent field means its default."""
    return {name: value for name, value in values.items() if value is not None}


class JsonObject:
    """Reads the fields of a JSON object; raises `InvalidTrigger` with the name of the field."""

    __slots__ = ("_data", "_what")

    def __init__(self, what: str, data: object, allowed: str) -> None:
        """`what` names the object in errors; `allowed` lists its fields, separated by spaces."""
        if not isinstance(data, Mapping):
            raise InvalidTrigger(f"{what}: a JSON object is needed, not {data!r}")
        self._what = what
        self._data = cast("Mapping[str, object]", data)
        for name in self._data:
            if name not in allowed.split():
                raise InvalidTrigger(f"{what}: unknown field {name!r}; allowed: {allowed}")

    def mapping(self, name: str) -> Mapping[str, object]:
        return self.entry(name, self._data.get(name))

    def entry(self, name: str, value: object) -> Mapping[str, object]:
        """One entry of a list of JSON objects, not looked into."""
        if not isinstance(value, Mapping):
            raise self.problem(name, f"a JSON object is needed, not {value!r}")
        return cast("Mapping[str, object]", value)

    def text(self, name: str, default: str | None = None) -> str:
        """A string; without a default it is required."""
        return self._value(name, default, str, "text")

    def optional_text(self, name: str) -> str | None:
        """A string, or None if the field is absent or null."""
        return None if self._data.get(name) is None else self.text(name)

    def integer(self, name: str, default: int) -> int:
        return self._value(name, default, int, "a whole number")

    def flag(self, name: str) -> bool:
        """True or false, by default false."""
        return self._value(name, False, bool, "true or false")

    def zone(self, name: str) -> str | None:
        """The name of a time zone; None if there is none."""
        text = self.optional_text(name)
        return None if text is None else self.read(name, lambda: zone_name(text))

    def gap(self) -> DstGap:
        text = self.text("dst_gap", DstGap.RUN_AFTER)
        return self.read("dst_gap", lambda: DstGap.read(text))

    def repeat(self) -> DstRepeat:
        text = self.text("dst_repeat", DstRepeat.FIRST)
        return self.read("dst_repeat", lambda: DstRepeat.read(text))

    def duration(self, name: str) -> timedelta:
        """A number of seconds."""
        seconds = self._data.get(name)
        if isinstance(seconds, bool) or not isinstance(seconds, int | float):
            raise self.problem(name, f"a number is needed, not {seconds!r}")
        try:
            return timedelta(seconds=seconds)
        except (OverflowError, ValueError) as error:
            raise self.problem(name, str(error)) from None

    def instant(self, name: str) -> datetime | None:
        """An instant with its zone, or None if the field is absent or null."""
        text = self.optional_text(name)
        return None if text is None else self.read(name, lambda: _instant(name, text))

    def instants(self, name: str) -> list[datetime]:
        texts = self.texts(name)
        return self.read(name, lambda: [_instant(name, text) for text in texts])

    def items(self, name: str) -> list[object]:
        """A list of anything, by default an empty one; so are the lists of the next methods."""
        value = self._data.get(name, [])
        if not isinstance(value, list):
            raise self.problem(name, f"a list is needed, not {value!r}")
        return cast("list[object]", value)

    def texts(self, name: str) -> list[str]:
        return self._list(name, str, "texts")

    def integers(self, name: str) -> list[int]:
        return self._list(name, int, "whole numbers")

    def pairs(self, name: str) -> list[tuple[str, str]]:
        return [self._pair(name, item) for item in self.items(name)]

    def read(self, name: str, reading: Callable[[], Read]) -> Read:
        """What `reading` returns; what it rejects is reported as a problem of the field."""
        try:
            return reading()
        except InvalidTrigger:
            raise
        except InvalidInput as error:
            raise self.problem(name, str(error)) from None

    def problem(self, name: str, problem: str) -> InvalidTrigger:
        return InvalidTrigger(f"{self._what}: {name}: {problem}")

    def _value(self, name: str, default: object, kind: type[Read], needed: str) -> Read:
        value = self._data.get(name, default)
        if not _is_a(value, kind):
            raise self.problem(name, f"{needed} is needed, not {value!r}")
        return value

    def _list(self, name: str, kind: type[Read], needed: str) -> list[Read]:
        values = self.items(name)
        found = [value for value in values if _is_a(value, kind)]
        if len(found) != len(values):
            raise self.problem(name, f"a list of {needed} is needed, not {values!r}")
        return found

    def _pair(self, name: str, item: object) -> tuple[str, str]:
        match item:
            case [str(first), str(second)]:
                return first, second
            case _:
                raise self.problem(name, f"a pair of texts is needed, not {item!r}")


def _is_a(value: object, kind: type[Read]) -> TypeGuard[Read]:
    """Whether a JSON value has the type; true and false are no numbers."""
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _instant(name: str, text: str) -> datetime:
    try:
        return aware(name, datetime.fromisoformat(text))
    except (OverflowError, ValueError) as error:
        raise InvalidTrigger(f"{name}: {error}") from None
