"""Templates: names that a task makes of its arguments, such as `"order-{order_id}"`.

Only whole arguments can be named: no attributes, no items. Braces are doubled to stand for
themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from string import Formatter
from typing import Any

from drumbeat.model.errors import InvalidOption

LONGEST_RESULT = 500
"""A longer name ends in a digest, since the stores index names."""
KEPT_OF_LONGER = 400
CONVERSIONS = frozenset({None, "s", "r", "a"})
_FORMATTER = Formatter()


@dataclass(frozen=True, slots=True)
class Field:
    """An argument in a template, and the text in front of it."""

    before: str
    argument: str
    conversion: str | None = None
    spec: str = ""

    def text(self, arguments: Mapping[str, Any]) -> str:
        value = arguments[self.argument]
        if self.conversion is not None:
            value = _FORMATTER.convert_field(value, self.conversion)
        return self.before + format(value, self.spec)


@dataclass(frozen=True, slots=True)
class Template:
    """A template that has been read."""

    source: str
    fields: tuple[Field, ...]
    end: str
    """The text after the last argument."""

    @property
    def arguments(self) -> frozenset[str]:
        return frozenset(field.argument for field in self.fields)

    def render(self, arguments: Mapping[str, Any]) -> str:
        """The name that these arguments make; `InvalidOption` if one cannot be formatted."""
        try:
            name = "".join(field.text(arguments) for field in self.fields) + self.end
        except Exception as error:  # the arguments may be of any type of the app
            raise InvalidOption(
                f"{self.source!r} cannot be made of the arguments: {error}"
            ) from error
        return name if len(name) <= LONGEST_RESULT else _shortened(name)


@lru_cache(maxsize=1_000)
def template(source: str) -> Template:
    """Read a template; `InvalidOption` says what is wrong with it."""
    fields: list[Field] = []
    text = ""
    try:
        for before, argument, spec, conversion in _FORMATTER.parse(source):
            text += before
            if argument is not None:
                fields.append(_field(source, Field(text, argument, conversion, spec or "")))
                text = ""
    except InvalidOption:
        raise
    except ValueError as error:
        raise InvalidOption(
            f"{source!r} is not a template: {error}; write {{{{ and }}}} for braces"
        ) from None
    return Template(source, tuple(fields), text)


def is_template(source: str) -> bool:
    """Whether a text has to be read as a template; others stand for themselves."""
    return "{" in source or "}" in source


def escaped(text: str) -> str:
    """The template that stands for this text."""
    return text.replace("{", "{{").replace("}", "}}")


def names_any(text: str, parameters: Collection[str]) -> bool:
    """Whether a text, read as a template, names one of the parameters, or a part of one."""
    try:
        fields = [argument for _, argument, _, _ in _FORMATTER.parse(text) if argument]
    except ValueError:
        return False
    return any(field.partition(".")[0].partition("[")[0] in parameters for field in fields)


def _field(source: str, field: Field) -> Field:
    if not field.argument.isidentifier():
        raise InvalidOption(
            f"{source!r} has {{{field.argument}}}: only a whole argument can be named, without its "
            f"attributes or items; write {{{{ and }}}} for braces"
        )
    if "{" in field.spec or field.conversion not in CONVERSIONS:
        raise InvalidOption(
            f"{source!r} has a format for {{{field.argument}}} that is not known: "
            f"use one such as {{{field.argument}:05}}"
        )
    return field


def _shortened(name: str) -> str:
    digest = blake2b(name.encode(errors="surrogatepass"), digest_size=16).hexdigest()
    return f"{name[:KEPT_OF_LONGER]}...{digest}"
