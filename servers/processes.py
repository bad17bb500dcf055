"""Suspends and kills a server with all its descendants, as `/proc` lists them.

A process group is not enough: each backend of PostgreSQL has its own session.
"""

from __future__ import annotations

import os
import signal
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

PATIENCE = 30.0
PAUSE = 0.002
GONE = "ZX"
STOPPED = "Tt"


def freeze(root: int) -> list[int]:
    """Suspend the process and its descendants. Returns them, the root first.

    The root is suspended first, so that it starts no other process meanwhile.
    """
    frozen: list[int] = []
    while new := [pid for pid in _family(root) if pid not in frozen]:
        for pid in new:
            _send(pid, signal.SIGSTOP)
        _wait(new, states=STOPPED + GONE)
        frozen += new
    return frozen


def thaw(root: int) -> None:
    """Resume the process and its descendants."""
    for pid in _family(root):
        _send(pid, signal.SIGCONT)


def kill(root: int) -> list[int]:
    """Kill the process and its descendants at the same moment. Returns their ids."""
    doomed = freeze(root)
    for pid in doomed:
        _send(pid, signal.SIGKILL)
    return doomed


def wait_until_gone(pids: Iterable[int]) -> None:
    """Wait until none of them runs; a zombie does not run."""
    _wait(pids, states=GONE)


def is_gone(pid: int) -> bool:
    """Whether the process has ended; a zombie has."""
    status = _status(pid)
    return status is None or status[0] in GONE


def _family(root: int) -> list[int]:
    """The process and its descendants; empty if it has ended."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and (status := _status(int(entry.name))):
            children[int(status[1])].append(int(entry.name))
    family = [root] if _status(root) else []
    for pid in family:  # grows while we walk it
        family += children[pid]
    return family


def _status(pid: int) -> list[str] | None:
    """The fields of `/proc/PID/stat` after the name: state, parent, ..."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()


def _wait(pids: Iterable[int], states: str) -> None:
    deadline = time.monotonic() + PATIENCE
    for pid in pids:
        while (status := _status(pid)) and status[0] not in states:
            if time.monotonic() > deadline:
                raise TimeoutError(f"Process {pid} is still in state {status[0]}.")
            time.sleep(PAUSE)


def _send(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
