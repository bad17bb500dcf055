"""The process of the reaper. It is run, never imported."""

from __future__ import annotations

import shutil
import sys

from servers import processes


def main() -> None:
    """Read orders until the owner has died; then kill and remove what is still registered."""
    registered: dict[str, None] = {}
    for line in sys.stdin:
        order, thing = line[0], line[1:].rstrip("\n")
        if order == "+":
            registered[thing] = None
        else:
            registered.pop(thing, None)
    things = [thing.split(" ", maxsplit=1) for thing in registered]
    doomed = [pid for kind, name in things if kind == "process" for pid in _kill(int(name))]
    processes.wait_until_gone(doomed)
    for kind, name in things:
        if kind == "folder":
            shutil.rmtree(name, ignore_errors=True)


def _kill(pid: int) -> list[int]:
    try:
        return processes.kill(pid)
    except TimeoutError:  # continue with the others
        return []


if __name__ == "__main__":
    main()
