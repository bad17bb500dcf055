"""A handler in a thread is not told that its attempt is over (RQ, Celery)."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.engine.executing.run import Run
from drumbeat.engine.tasks.task import Place
from drumbeat.model.jobs.ending import Ending

CAUGHT_BY = {"S14"}
FOUND_AT = 31

interrupt = Run.interrupt


def interrupt_but_threads(self: Run, ending: Ending, grace: float) -> None:
    if self.definition.place is Place.THREAD:
        self.interruption = self.interruption or ending
        self._cancel()
    else:
        interrupt(self, ending, grace)


@contextmanager
def planted() -> Generator[None]:
    with patch.object(Run, "interrupt", interrupt_but_threads):
        yield
