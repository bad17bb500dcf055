"""Tracing: how submitting and running jobs are told to whoever follows calls through a fleet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeAlias

from drumbeat.model.ending import Ending
from drumbeat.model.job import Attempt, JobSpec

Ended: TypeAlias = Callable[[Ending], None]
"""To be called with how an attempt ended."""


class Tracing(Protocol):
    """Makes spans. None of its calls may raise or wait."""

    def submitting(self, specs: Sequence[JobSpec]) -> AbstractContextManager[Sequence[JobSpec]]:
        """A span for as long as the jobs are being submitted; gives them with its trace."""
        ...

    def running(self, attempt: Attempt) -> AbstractContextManager[Ended]:
        """A span, and a trace of its own, for as long as an attempt runs."""
        ...
