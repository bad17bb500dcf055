"""Queries and bodies whose fields are the parameters of an operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from msgspec import UNSET, Struct, structs


class Parameters(Struct, forbid_unknown_fields=True):
    """A query or a body. By default each field is the parameter of its name."""

    def parameters(self) -> dict[str, Any]:
        """The parameters by name. A field that was not given is None."""
        fields = structs.asdict(self).items()
        return {name: None if value is UNSET else value for name, value in fields}

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """The query or the body for these parameters. Optional ones that are None are left out."""
        fields = [each.name for each in structs.fields(cls) if each.required]
        fields += [name for name, value in given.items() if value is not None]
        return cls(**{name: given[name] for name in fields if name in cls.__struct_fields__})
