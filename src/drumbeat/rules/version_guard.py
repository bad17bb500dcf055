"""Version guards: a change of a schedule that is meant for one version of it, or for none.

The guard is checked against the same reading of the schedule that the change is computed from.
That reading is also the compare value of the guarded write (`Edit.before`). If somebody else
writes in between, the write is refused, the schedule is read again, and the guard fails. So there
is no moment between the check and the write.
"""

from __future__ import annotations

from dataclasses import dataclass

from drumbeat.model.errors import VersionMismatch
from drumbeat.model.schedule import StoredSchedule


@dataclass(frozen=True, slots=True)
class VersionGuard:
    """What a schedule has to be for a change to be made."""

    versions: frozenset[int] | None = None
    """It has to be at one of these; None: any version will do."""
    must_exist: bool = False
    must_be_absent: bool = False

    def check(self, name: str, stored: StoredSchedule | None) -> None:
        """Raise `VersionMismatch` if the schedule is something else."""
        if stored is None:
            matches = not self.must_exist and self.versions is None
        else:
            is_wanted = self.versions is None or stored.version in self.versions
            matches = is_wanted and not self.must_be_absent
        if not matches:
            raise VersionMismatch(name, None if stored is None else stored.version)


UNGUARDED = VersionGuard()
