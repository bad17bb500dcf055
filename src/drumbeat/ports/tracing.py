"""Tracing: makes spans of submitted and running jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from drumbeat.model.jobs.ending import Ending
    from drumbeat.model.jobs.job import Attempt, JobSpec

Ended: TypeAlias = "Callable[[Ending], None]"
"""Called with the ending of an attempt."""


class Tracing(Protocol):
    """Makes spans. Its methods must not raise or block."""

    def submitting(self, specs: Sequence[JobSpec]) -> AbstractContextManager[Sequence[JobSpec]]:
        """A span while the jobs are being submitted; yields them with its trace context."""
        ...

    def running(self, attempt: Attempt) -> AbstractContextManager[Ended]:
        """A span, with a trace of its own, while an attempt runs."""
        ...
