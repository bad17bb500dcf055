"""Reading values out of decoded JSON, with errors that name the field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TypeVar, cast

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
        """A string; without a default it must be there."""
        value = self._data.get(name, default)
        if not isinstance(value, str):
            raise self.problem(name, f"text is needed, not {value!r}")
        return value

    def optional_text(self, name: str) -> str | None:
        """A string, or None where the field is absent or null."""
        return None if self._data.get(name) is None else self.text(name)

    def number(self, name: str, default: float | None = None) -> float:
        """A number; without a default it must be there."""
        value = self._data.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.problem(name, f"a number is needed, not {value!r}")
        return value

    def integer(self, name: str, default: int | None = None) -> int:
        """A whole number; without a default it must be there."""
        value = self.number(name, default)
        if not isinstance(value, int):
            raise self.problem(name, f"a whole number is needed, not {value!r}")
        return value

    def flag(self, name: str) -> bool:
        """True or false; false where the field is absent."""
        value = self._data.get(name, False)
        if not isinstance(value, bool):
            raise self.problem(name, f"true or false is needed, not {value!r}")
        return value

    def zone(self, name: str) -> str:
        """The name of a time zone, by default UTC."""
        return self.read(name, lambda: zone_name(self.text(name, "UTC")))

    def gap(self) -> DstGap:
        text = self.text("dst_gap", DstGap.RUN_AFTER)
        return self.read("dst_gap", lambda: DstGap.read(text))

    def repeat(self) -> DstRepeat:
        text = self.text("dst_repeat", DstRepeat.FIRST)
        return self.read("dst_repeat", lambda: DstRepeat.read(text))

    def duration(self, name: str) -> timedelta:
        """A length of time in seconds."""
        seconds = self.number(name)
        try:
            return timedelta(seconds=seconds)
        except (OverflowError, ValueError) as error:
            raise self.problem(name, str(error)) from None

    def instant(self, name: str) -> datetime | None:
        """An instant with its zone, or None where the field is absent or null."""
        text = self.optional_text(name)
        return None if text is None else self.read(name, lambda: _instant(name, text))

    def instants(self, name: str) -> list[datetime]:
        """Instants with their zones."""
        texts = self.texts(name)
        return self.read(name, lambda: [_instant(name, text) for text in texts])

    def items(self, name: str) -> list[object]:
        """A list of anything; empty where the field is absent."""
        value = self._data.get(name, [])
        if not isinstance(value, list):
            raise self.problem(name, f"a list is needed, not {value!r}")
        return cast("list[object]", value)

    def texts(self, name: str) -> list[str]:
        """A list of strings; empty where the field is absent."""
        values = self.items(name)
        texts = [value for value in values if isinstance(value, str)]
        if len(texts) != len(values):
            raise self.problem(name, f"a list of texts is needed, not {values!r}")
        return texts

    def pairs(self, name: str) -> list[tuple[str, str]]:
        """A list of pairs of strings; empty where the field is absent."""
        return [self._pair(name, item) for item in self.items(name)]

    def integers(self, name: str) -> list[int]:
        """A list of whole numbers; empty where the field is absent."""
        values = self.items(name)
        integers = [v for v in values if isinstance(v, int) and not isinstance(v, bool)]
        if len(integers) != len(values):
            raise self.problem(name, f"a list of whole numbers is needed, not {values!r}")
        return integers

    def read(self, name: str, reading: Callable[[], Read]) -> Read:
        """What `reading` returns; what it refuses is reported as a problem of the field."""
        try:
            return reading()
        except InvalidTrigger:
            raise
        except InvalidInput as error:
            raise self.problem(name, str(error)) from None

    def problem(self, name: str, problem: str) -> InvalidTrigger:
        """The error that says what is wrong with a field."""
        return InvalidTrigger(f"{self._what}: {name}: {problem}")

    def _pair(self, name: str, item: object) -> tuple[str, str]:
        match item:
            case [str(first), str(second)]:
                return first, second
            case _:
                raise self.problem(name, f"a pair of texts is needed, not {item!r}")


def _instant(name: str, text: str) -> datetime:
    try:
        return aware(name, datetime.fromisoformat(text))
    except (OverflowError, ValueError) as error:
        raise InvalidTrigger(f"{name}: {error}") from None
