"""An app whose logging is configured as in real services: `python -m tests.app.logged_app uvicorn`.

`test_logging_setups` runs it and reads what it writes to standard error.
"""

from __future__ import annotations

import asyncio
import json
import logging
import logging.config
import sys
from collections.abc import Mapping, MutableMapping
from importlib import import_module
from typing import Any

from drumbeat import Context, Drumbeat, Retry

ONCE = Retry.linear(max_retries=0)
app = Drumbeat("memory://", environment={}, instance_id="web-1")


class Unsendable(Exception):
    """An error that cannot be sent to another process."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)


@app.task(retry=ONCE)
async def on_loop(ctx: Context) -> None:
    ctx.log.info("looking", order_id=3)
    raise ValueError("no account 7\nsecond line")


@app.task(retry=ONCE)
def in_thread() -> None:
    raise LookupError("in the thread")


@app.task(retry=ONCE, process=True)
def in_child(ctx: Context, sendable: bool) -> None:
    ctx.log.warning("working 100%", order_id=4, customer=Unsendable(7, "Ada"))
    try:
        _ = 1 / 0
    except ZeroDivisionError:
        logging.getLogger("shop").exception("It is %s", "handled")
    raise KeyError("in the child") if sendable else Unsendable(7, "it stays there")


@app.task(retry=ONCE, timeout=0.1)
async def too_slow() -> None:
    await asyncio.Event().wait()


async def main() -> None:
    async with app.running():
        await on_loop.submit()
        await in_thread.submit()
        await in_child.submit(True)
        await in_child.submit(False)
        await too_slow.submit()
        await app.wait_until_idle(60)


def configure_uvicorn() -> None:
    from uvicorn.config import LOGGING_CONFIG

    logging.config.dictConfig(LOGGING_CONFIG)


def configure_django() -> None:
    settings: Any = import_module("django.conf").settings
    configure_logging: Any = import_module("django.utils.log").configure_logging

    logging_of_project = {
        "version": 1,
        "disable_existing_loggers": False,
        "handlers": {"console": {"class": "logging.StreamHandler"}},
        "root": {"handlers": ["console"], "level": "INFO"},
    }
    settings.configure(LOGGING=logging_of_project)
    configure_logging("logging.config.dictConfig", logging_of_project)


def configure_structlog() -> None:
    import structlog

    handler = logging.StreamHandler()
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[structlog.stdlib.add_log_level, with_drumbeat_facts],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
    )
    handler.setFormatter(formatter)
    logging.basicConfig(level="INFO", handlers=[handler])


def with_drumbeat_facts(_: Any, __: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """As docs/logging.md shows it."""
    record: Any = event.get("_record")
    if hasattr(record, "sentence"):
        event.update(record.facts, event=record.sentence)
    return event


def configure_sentry() -> None:
    import sentry_sdk

    def keep(event: Any, hint: Any) -> None:
        """The tags are as docs/logging.md shows them."""
        facts = getattr(hint.get("log_record"), "facts", {})
        tags = event.setdefault("tags", {})
        tags.update({name: str(facts[name]) for name in ("task", "schedule") if name in facts})
        sys.stderr.write(f"{json.dumps(event, default=str)}\n")

    sentry_sdk.init(dsn="https://key@sentry.invalid/1", before_send=keep)


CONFIGURATIONS = {
    "nothing": lambda: None,
    "basic": lambda: logging.basicConfig(level="INFO"),
    "uvicorn": configure_uvicorn,
    "django": configure_django,
    "structlog": configure_structlog,
    "sentry": configure_sentry,
}

if __name__ == "__main__":
    CONFIGURATIONS[sys.argv[1]]()
    asyncio.run(main())
