"""Where an error was raised: what tells failures of one cause from others."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile

FRAME = re.compile(r'^[\s|]*File "(?P<file>.+)", line (?P<line>\d+), in (?P<function>.+)$')
EXCEPTION = re.compile(r"^(?P<name>[A-Za-z_][\w.]*)(?:: (?P<message>.*))?$", re.DOTALL)
LIBRARIES = re.compile(
    r"[/\\](site-packages|dist-packages|lib[/\\]python\d[^/\\]*|drumbeat)[/\\]|^<"
)
VARYING = re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-f]{8,}\b|\d+(?:\.\d+)?")
LONGEST_MESSAGE = 300


@dataclass(frozen=True, slots=True)
class ErrorSite:
    """The exception of an error and the frame that raised it: the same for errors of one cause."""

    exception: str
    """Its class; without a traceback, the sentence with its numbers replaced by `#`."""
    file: str = ""
    line: int = 0
    function: str = ""


def site_of(error: str) -> ErrorSite:
    """The site of an error as a job keeps it.

    The frame is the last one outside of installed libraries, or the last of all.
    """
    lines = error.splitlines()
    found = [(at, match) for at, line in enumerate(lines) if (match := FRAME.match(line))]
    if not found:
        return ErrorSite(VARYING.sub("#", _cut(error)))
    # A chain of errors ends with the one that left the handler; its frames come last.
    first = next((at for at in range(found[-1][0], -1, -1) if lines[at].startswith("Traceback")), 0)
    own = [match for at, match in found if at > first]
    ours = [match for match in own if not LIBRARIES.search(match["file"])]
    frame = (ours or own or [found[-1][1]])[-1]
    said = EXCEPTION.match(_said(lines[found[-1][0] + 1 :]))
    name = "" if said is None else said["name"]
    return ErrorSite(name, frame["file"], int(frame["line"]), frame["function"])


def message_of(error: str) -> str:
    """What an error says, without its traceback and the name of its class."""
    lines = error.splitlines()
    frames = [at for at, line in enumerate(lines) if FRAME.match(line)]
    if not frames:
        return _cut(error)
    text = _said(lines[frames[-1] + 1 :])
    said = EXCEPTION.match(text)
    return _cut(text if said is None else said["message"] or "")


def _said(after_frame: list[str]) -> str:
    """The lines from the one that names the exception, which is the first without indentation."""
    quoted = sum(1 for _ in takewhile(lambda line: not line or line[0] in " |+", after_frame))
    return "\n".join(after_frame[quoted:])


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_MESSAGE else f"{text[: LONGEST_MESSAGE - 1]}…"
