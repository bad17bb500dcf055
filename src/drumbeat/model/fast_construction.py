"""Fast construction of frozen dataclasses.

The `__init__` of a frozen dataclass sets each field through `object.__setattr__`: a `Job` takes
2.2 us, more than all the work around it. A plain class with the same slots sets them directly, and
the value then changes its class to the frozen one: 0.5 us. The result is a normal frozen value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import Field, field, fields, make_dataclass
from operator import attrgetter
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
Value = TypeVar("Value")


def fast_constructor(kind: Callable[P, Value]) -> Callable[P, Value]:
    """A faster constructor of a frozen, slotted dataclass without `__post_init__`."""
    assert isinstance(kind, type), "only classes have slots"
    return _twin(kind, [(each.name, object, _default(each)) for each in fields(kind)])


def constructor_by(kind: Callable[..., Value], order: Sequence[str]) -> Callable[..., Value]:
    """The same, with the fields in another order and without defaults."""
    assert isinstance(kind, type), "only classes have slots"
    assert sorted(order) == sorted(each.name for each in fields(kind)), "every field has its place"
    return _twin(kind, [(name, object, field()) for name in order])


def fast_replace(kind: Callable[..., Value]) -> Callable[..., Value]:
    """`dataclasses.replace` for such a class, five times as fast. It copies every field."""
    new, names = fast_constructor(kind), [each.name for each in fields(cast("type[Any]", kind))]
    values_of, places = attrgetter(*names), {name: place for place, name in enumerate(names)}

    def changed(value: Value, **changes: object) -> Value:
        values = list(values_of(value))
        for name, change in changes.items():
            values[places[name]] = change
        return new(*values)

    return changed


def _twin(kind: type[Any], slots: list[tuple[str, type[object], Any]]) -> type[Any]:
    """A plain class with the same slots, whose values change their class to the frozen one."""
    assert not hasattr(kind, "__post_init__"), (
        f"{kind.__name__} has a __post_init__, which would be skipped"
    )

    def become(twin: Any) -> None:  # Any: it changes its class here
        twin.__class__ = kind

    return make_dataclass(
        kind.__name__,
        slots,
        namespace={"__post_init__": become},
        slots=True,
        eq=False,
        repr=False,
    )


def _default(each: Field[Any]) -> Any:  # Any: what `dataclasses.field` is typed to return
    make: Any = field  # Any: its overloads take one of the two, although either may be MISSING
    return make(default=each.default, default_factory=each.default_factory)
