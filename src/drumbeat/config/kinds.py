"""Kinds of values: how text becomes a value, and what a value must fulfil.

Both raise `InvalidInput` with a whole sentence that begins with the name of the setting and says
what is allowed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

from drumbeat.model.errors import InvalidInput
from drumbeat.model.time.duration import parse_duration
from drumbeat.model.time.zones import zone_name

HIGHEST_PORT = 65_535
SHORTEST_TOKEN = 20
FEWEST_LETTERS = 8
"""The least number of different characters of a token."""
TRUE = frozenset({"true", "1", "yes", "on"})
FALSE = frozenset({"false", "0", "no", "off"})


class SettingKind(ABC):
    """One kind of value."""

    word: ClassVar[str] = ""

    @property
    def placeholder(self) -> str:
        """The word for a value in the help of an option."""
        return self.word

    def read(self, name: str, text: str) -> object:
        """The value that a text stands for."""
        del name
        return text

    @abstractmethod
    def check(self, name: str, value: object) -> None:
        """Refuse a value that cannot work."""

    def show(self, value: object) -> str:
        """The value as people write it; a missing one is empty."""
        return "" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class Text(SettingKind):
    """Any text that is not empty."""

    may_be_missing: bool = False
    word: ClassVar[str] = "TEXT"

    def check(self, name: str, value: object) -> None:
        if value is None and self.may_be_missing:
            return
        if not isinstance(value, str):
            raise InvalidInput(f"{name} must be text, not {value!r}")
        if not value.strip():
            raise InvalidInput(f"{name} must not be empty")


@dataclass(frozen=True, slots=True)
class ZoneName(SettingKind):
    """The name of a time zone."""

    word: ClassVar[str] = "ZONE"

    def check(self, name: str, value: object) -> None:
        if not isinstance(value, str):
            raise InvalidInput(f"{name} must be the name of a time zone, not {value!r}")
        try:
            zone_name(value)
        except InvalidInput as error:
            raise InvalidInput(f"{name}: {error}") from None


@dataclass(frozen=True, slots=True)
class Token(SettingKind):
    """A secret that nobody can guess; it may be missing."""

    word: ClassVar[str] = "TOKEN"

    def check(self, name: str, value: object) -> None:
        """Refuse what could be guessed. The error does not contain the value."""
        if value is None:
            return
        if not isinstance(value, str):
            raise InvalidInput(f"{name} must be text")
        if len(value) < SHORTEST_TOKEN or len(set(value)) < FEWEST_LETTERS:
            raise InvalidInput(
                f"{name} is too easy to guess: it needs at least {SHORTEST_TOKEN} characters, "
                f"{FEWEST_LETTERS} of them different; `openssl rand -hex 32` makes one"
            )


@dataclass(frozen=True, slots=True)
class Identifier(SettingKind):
    """Letters, digits, - and _, as stores take them in names of their own."""

    word: ClassVar[str] = "NAME"

    def check(self, name: str, value: object) -> None:
        if not isinstance(value, str) or not value.replace("-", "_").isidentifier():
            raise InvalidInput(f"{name} must consist of letters, digits, - and _, not {value!r}")


@dataclass(frozen=True, slots=True)
class Boolean(SettingKind):
    """True or false."""

    word: ClassVar[str] = "true|false"

    def read(self, name: str, text: str) -> object:
        word = text.strip().lower()
        if word not in TRUE | FALSE:
            raise InvalidInput(f"{name} must be true or false (also 1/0, yes/no), not {text!r}")
        return word in TRUE

    def check(self, name: str, value: object) -> None:
        if not isinstance(value, bool):
            raise InvalidInput(f"{name} must be true or false, not {value!r}")

    def show(self, value: object) -> str:
        return str(value).lower()


@dataclass(frozen=True, slots=True)
class Count(SettingKind):
    """A whole number within bounds."""

    highest: int
    may_be_missing: bool = False
    word: ClassVar[str] = "N"

    def read(self, name: str, text: str) -> object:
        try:
            return int(text.strip())
        except ValueError:
            raise InvalidInput(f"{name} must be a whole number, not {text!r}") from None

    def check(self, name: str, value: object) -> None:
        if value is None and self.may_be_missing:
            return
        if not isinstance(value, int) or isinstance(value, bool):
            raise InvalidInput(f"{name} must be a whole number, not {value!r}")
        if not 1 <= value <= self.highest:
            raise InvalidInput(f"{name} must lie between 1 and {self.highest:,}, not {value}")


@dataclass(frozen=True, slots=True)
class Length(SettingKind):
    """A length of time."""

    may_be_zero: bool = False
    may_be_missing: bool = False
    word: ClassVar[str] = "DURATION"

    def check(self, name: str, value: object) -> None:
        if value is None and self.may_be_missing:
            return
        if not isinstance(value, int | float | str | timedelta) or isinstance(value, bool):
            raise InvalidInput(f"{name} must be a duration such as '15s', not {value!r}")
        try:
            length = parse_duration(value)
        except InvalidInput as error:
            raise InvalidInput(f"{name}: {error}") from None
        if not length and not self.may_be_zero:
            raise InvalidInput(f"{name} must be longer than zero, not {value}")

    def show(self, value: object) -> str:
        if value is None:
            return ""
        assert isinstance(value, int | float | str | timedelta)
        return short_duration(parse_duration(value))


@dataclass(frozen=True, slots=True)
class NameList(SettingKind):
    """Names, separated by commas in text."""

    of: str = "queue"
    may_be_empty: bool = False
    word: ClassVar[str] = "NAME,..."

    def read(self, name: str, text: str) -> object:
        del name
        return tuple(part.strip() for part in text.split(","))

    def check(self, name: str, value: object) -> None:
        if not isinstance(value, tuple | list):
            example = value if isinstance(value, str) else "mail"
            raise InvalidInput(
                f"{name} must be a tuple of names such as ({example!r},), not {value!r}"
            )
        names: tuple[object, ...] = tuple(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - of whatever it is
        if not names and self.may_be_empty:
            return
        if not names or not all(isinstance(each, str) and each for each in names):
            raise InvalidInput(f"{name} must name at least one {self.of}, and no empty name")

    def show(self, value: object) -> str:
        assert isinstance(value, tuple | list)
        return ", ".join(str(each) for each in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - of whatever it is


@dataclass(frozen=True, slots=True)
class Choice(SettingKind):
    """One of a few words, in upper case however it was written."""

    allowed: tuple[str, ...]
    also: tuple[tuple[str, str], ...] = ()
    """Other words for them."""

    @property
    def placeholder(self) -> str:
        return "|".join(self.allowed)

    def read(self, name: str, text: str) -> object:
        word = text.strip().upper()
        meant = dict(self.also).get(word, word)
        self.check(name, meant if meant in self.allowed else text)
        return meant

    def check(self, name: str, value: object) -> None:
        if value not in self.allowed:
            raise InvalidInput(f"{name} must be one of {', '.join(self.allowed)}, not {value!r}")


@dataclass(frozen=True, slots=True)
class HttpAddress(SettingKind):
    """Where to listen: `:8080` for every interface, or `host:port`."""

    word: ClassVar[str] = "HOST:PORT"

    def check(self, name: str, value: object) -> None:
        if value is None:
            return
        host, separator, port = str(value).rpartition(":")
        sound = separator and port.isascii() and port.isdecimal() and int(port) <= HIGHEST_PORT
        if not sound or "/" in host or (":" in host and not host.startswith("[")):
            raise InvalidInput(
                f"{name} must be ':8080', 'host:8080' or '[::1]:8080' "
                f"with a port up to {HIGHEST_PORT}, not {value!r}"
            )


def host_and_port(address: str) -> tuple[str, int]:
    """The parts of an address to listen at; an empty host is every interface."""
    host, _, port = address.rpartition(":")
    return host.removeprefix("[").removesuffix("]"), int(port)


@dataclass(frozen=True, slots=True)
class BackendUrl(SettingKind):
    """Where a store, a coordinator or a queue is. `backends` says which there are."""

    word: ClassVar[str] = "URL"

    def check(self, name: str, value: object) -> None:
        if value is not None and not (isinstance(value, str) and value.strip()):
            raise InvalidInput(f"{name} must be an address such as 'memory://', not {value!r}")


_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60))


def short_duration(length: timedelta) -> str:
    """A length of time as settings take it: `1h30m`, `0.5s`, `7d`."""
    seconds = length.total_seconds()
    parts: list[str] = []
    for unit, size in _UNITS:
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count:.0f}{unit}")
    if seconds or not parts:
        parts.append(f"{round(seconds, 6):g}s")
    return "".join(parts)
