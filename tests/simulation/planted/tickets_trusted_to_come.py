"""A worker acknowledges tickets at once and looks for jobs by nothing else: a lost ticket is a lost
job (Celery with early acknowledgement, and every queue that nobody publishes to again).
"""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from drumbeat.engine.maintenance.promoter import Promoter
from drumbeat.engine.working.listener import TicketListener
from drumbeat.engine.working.worker_parts import WorkerParts
from drumbeat.wiring import node

CAUGHT_BY = {"L4"}
FOUND_AT = 48


def parts(**fields: Any) -> WorkerParts:
    changed: dict[str, Any] = {**fields, "poll": None}
    return WorkerParts(**changed)


def hinted(self: TicketListener) -> None:
    del self


async def never_again(self: Promoter) -> float:
    del self
    return 30.0


@contextmanager
def planted() -> Generator[None]:
    with (
        patch.object(node, "WorkerParts", parts),
        patch.object(TicketListener, "_hinted", hinted),
        patch.object(Promoter, "_republish", never_again),
    ):
        yield
