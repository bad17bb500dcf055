"""Projects of users, for which a test runs pytest in a process of its own."""

from __future__ import annotations

import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import pytest

HELLO = """
from drumbeat import Context, Drumbeat, Retry

app = Drumbeat("sqlite:///drumbeat.db")


@app.task(retry=Retry.backpressure(max_retries=5, base_delay=1.0), timeout=30)
async def send_receipt(order_id: int) -> str:
    return f"receipt for order {order_id}"


@app.scheduled("0 2 * * *")
async def cleanup(ctx: Context) -> None: ...


async def place_order(order_id: int) -> None:
    await send_receipt.submit(order_id)


def place_order_sync(order_id: int) -> None:
    send_receipt.submit_sync(order_id)
"""
"""As in the README: the app, its store and its tasks belong to the module."""


@dataclass
class Server:
    """A port of this machine that nobody may connect to."""

    listening: socket.socket

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.listening.getsockname()[1]}"

    @property
    def connected(self) -> bool:
        """Whether anybody has connected."""
        with suppress(BlockingIOError):
            self.listening.accept()[0].close()
            return True
        return False


@contextmanager
def server() -> Generator[Server]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield Server(listening)


def run(pytester: pytest.Pytester, tests: str, *options: str, ini: str = "") -> pytest.RunResult:
    """Run these tests of a user, with warnings as errors."""
    lines = [
        "[pytest]",
        "asyncio_mode = auto",
        "asyncio_default_fixture_loop_scope = function",
        *ini.splitlines(),
    ]
    pytester.makefile(".ini", pytest="\n".join(lines))
    pytester.makepyfile(test_hello=tests)
    return pytester.runpytest_subprocess("-W", "error", "-p", "no:cacheprovider", *options)


def files(pytester: pytest.Pytester) -> set[str]:
    """The files of the project that neither the test nor pytest has written."""
    ours = {"stdout", "stderr", ".env"}
    return {
        str(path.relative_to(pytester.path))
        for path in pytester.path.rglob("*")
        if path.is_file() and path.suffix not in {".py", ".ini", ".pyc"} and path.name not in ours
    }
