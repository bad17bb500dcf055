"""Migrations: what a store may offer for `drumbeat db`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol, runtime_checkable


class Step(Protocol):
    """One step of a schema."""

    @property
    def version(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def script(self) -> str: ...


class Migrations(Protocol):
    """The schema of a store: which steps there are, and which were applied."""

    def known(self) -> Sequence[Step]:
        """The steps of this version of Drumbeat, in order."""
        ...

    async def applied(self) -> Collection[int]:
        """The numbers of those that were applied; looking changes nothing."""
        ...

    async def apply(self) -> Sequence[Step]:
        """Apply the others, all or none, and return them; not those that wait for a person."""
        ...


@runtime_checkable
class WaitingStep(Protocol):
    """A step that may have to wait until no node of an older version runs."""

    @property
    def after(self) -> bool: ...


@runtime_checkable
class StagedMigrations(Protocol):
    """A schema with such steps."""

    async def apply_after(self) -> Sequence[Step]:
        """Apply these too, all or none, and return all that were applied."""
        ...


def waits(step: Step) -> bool:
    """Whether the step waits for a person, so a pending one is not a fault."""
    return isinstance(step, WaitingStep) and step.after


@runtime_checkable
class Migrating(Protocol):
    """A store with a schema that grows."""

    @property
    def migrations(self) -> Migrations: ...
