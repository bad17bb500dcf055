"""Reaping: what the process of the reaper does. It is run, never imported."""

from __future__ import annotations

import shutil
import sys

from servers import processes


def main() -> None:
    """Read orders until the owner has died; then kill and remove what is left."""
    left: dict[str, None] = {}
    for line in sys.stdin:
        order, thing = line[0], line[1:].rstrip("\n")
        if order == "+":
            left[thing] = None
        else:
            left.pop(thing, None)
    things = [thing.split(" ", maxsplit=1) for thing in left]
    doomed = [pid for kind, name in things if kind == "process" for pid in _kill(int(name))]
    processes.wait_until_gone(doomed)
    for kind, name in things:
        if kind == "folder":
            shutil.rmtree(name, ignore_errors=True)


def _kill(pid: int) -> list[int]:
    try:
        return processes.kill(pid)
    except TimeoutError:  # one that cannot be stopped must not save the others
        return []


if __name__ == "__main__":
    main()
