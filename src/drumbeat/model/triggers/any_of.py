"""`any_of(...)`: several triggers as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from drumbeat.model.encoding.json_object import JsonObject
from drumbeat.model.errors import InvalidTrigger
from drumbeat.model.text import uncapitalised
from drumbeat.model.time.instant import MICROSECOND
from drumbeat.model.triggers.steps import Steps
from drumbeat.model.triggers.trigger import Combined, Trigger, trigger_from_json

MOST_MEMBERS = 100


@dataclass(frozen=True, slots=True)
class AnyOf(Combined):
    """Ticks whenever a member does; a tick is excluded if every member that has it excludes it."""

    kind: ClassVar[str] = "any_of"

    members: tuple[Trigger, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.members) <= MOST_MEMBERS:
            raise InvalidTrigger(
                f"triggers: 1 to {MOST_MEMBERS} of them can be joined, not {len(self.members)}"
            )

    def next_within(self, instant: datetime, steps: Steps) -> datetime | None:
        return _earliest(member.next_within(instant, steps) for member in self.members)

    @property
    def parts(self) -> int:
        # Twice, since `excludes` asks each member again whether it names the tick.
        return 2 * sum(member.parts for member in self.members)

    def named_after(self, instant: datetime) -> datetime | None:
        return _earliest(member.named_after(instant) for member in self.members)

    def excludes(self, tick: datetime) -> bool:
        just_before = tick - MICROSECOND
        naming = [member for member in self.members if member.named_after(just_before) == tick]
        return bool(naming) and all(member.excludes(tick) for member in naming)

    def describe(self) -> str:
        first, *others = (member.describe() for member in self.members)
        return "; or ".join([first, *map(uncapitalised, others)])

    def to_json(self) -> dict[str, object]:
        return {"type": self.kind, "triggers": [member.to_json() for member in self.members]}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Trigger:
        fields = JsonObject(cls.kind, data, "type triggers")
        members = fields.items("triggers")
        if not 1 <= len(members) <= MOST_MEMBERS:
            raise fields.problem("triggers", f"1 to {MOST_MEMBERS} are needed, not {len(members)}")
        return any_of(*(trigger_from_json(fields.entry("triggers", item)) for item in members))

    def with_anchor_of(self, other: Trigger) -> Trigger:
        if not isinstance(other, AnyOf) or not self.same_rule(other):
            return self
        pairs = zip(self.members, other.members, strict=True)
        return AnyOf(tuple(member.with_anchor_of(stored) for member, stored in pairs))

    def changed(self, change: Callable[[Trigger], Trigger]) -> Trigger:
        """Equal members stay equal, with equal random draws."""
        changed = tuple(change(member) for member in self.members)
        return self if changed == self.members else AnyOf(changed)


def any_of(*triggers: Trigger) -> Trigger:
    """The union of the triggers; of one trigger, that trigger itself."""
    members: list[Trigger] = []
    for trigger in triggers:
        for member in trigger.members if isinstance(trigger, AnyOf) else (trigger,):
            if member not in members:
                members.append(member)
    return members[0] if len(members) == 1 else AnyOf(tuple(members))


def _earliest(ticks: Iterable[datetime | None]) -> datetime | None:
    return min((tick for tick in ticks if tick is not None), default=None)
