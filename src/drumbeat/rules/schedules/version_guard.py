"""Version guards: make a change only if the schedule is at an expected version.

The guard checks the same stored schedule that the change is computed from, and that the guarded
write compares (`Edit.before`). If somebody else writes in between, the write is refused, the
schedule is read again, and the guard fails. So nothing can happen between the check and the write.
"""

from __future__ import annotations

from dataclasses import dataclass

from drumbeat.model.errors import VersionMismatch
from drumbeat.model.schedules.schedule import StoredSchedule


@dataclass(frozen=True, slots=True)
class VersionGuard:
    """What the schedule must be for the change to be made."""

    versions: frozenset[int] | None = None
    """The accepted versions; None: any."""
    must_exist: bool = False
    must_be_absent: bool = False

    def check(self, name: str, stored: StoredSchedule | None) -> None:
        """Raise `VersionMismatch` unless the schedule fits."""
        if stored is None:
            matches = not self.must_exist and self.versions is None
        else:
            is_wanted = self.versions is None or stored.version in self.versions
            matches = is_wanted and not self.must_be_absent
        if not matches:
            raise VersionMismatch(name, None if stored is None else stored.version)


UNGUARDED = VersionGuard()
