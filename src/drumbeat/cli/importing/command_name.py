"""The name of a shell command: what it runs, without what only prepares or starts that."""

from __future__ import annotations

import re
import shlex
from pathlib import PurePosixPath

_PREPARES = re.compile(
    r"""\s*(?:cd\s+\S+\s*(?:&&|;)             # changes its folder
        |(?:test|\[)\s[^|&;]*(?:\|\||&&)\s*   # checks something first
        |[({]\s                               # groups
        |[A-Za-z_]\w*=\S*\s+                  # sets a variable
        )\s*""",
    re.VERBOSE,
)
_WRAPPERS = {
    "sudo": 0,
    "env": 0,
    "nice": 0,
    "ionice": 0,
    "nohup": 0,
    "time": 0,
    "exec": 0,
    "chronic": 0,
    "setsid": 0,
    "timeout": 1,
    "flock": 1,
}
"""Programs that run another one, and how many of their own arguments come before it."""
_TAKES_VALUE = frozenset({"-u", "-g", "-n", "-c", "-w", "-E", "-k", "-s"})
"""Options of wrappers that are followed by a value. `flock -n` and `sudo -n` have none."""
_SWITCHES = {"flock": frozenset({"-n", "-s"}), "sudo": frozenset({"-n", "-E", "-s", "-k"})}
_INTERPRETER = re.compile(r"(?:python|php|node|ruby|perl|bash|dash|sh|zsh|java)[\d.]*")
_DISPATCHERS = frozenset({"manage", "artisan", "console", "rake", "django-admin"})
"""Programs whose first argument says what they do."""


def command_name(command: str) -> str:
    """The program, script or subcommand that a command runs; empty if none can be told."""
    while prepares := _PREPARES.match(command):
        command = command[prepares.end() :]
    return _name(_words(command))


def _name(words: list[str]) -> str:
    if not words:
        return ""
    program = PurePosixPath(words[0]).name
    if program in _WRAPPERS:
        return _name(_wrapped(program, words[1:])) or program
    if _INTERPRETER.fullmatch(program):
        return _script(words[1:]) or program
    return _dispatched(words)


def _wrapped(wrapper: str, words: list[str]) -> list[str]:
    """The command that a wrapper runs."""
    own = _WRAPPERS[wrapper]
    while words:
        word = words[0]
        if word.startswith("-"):
            takes = word in _TAKES_VALUE - _SWITCHES.get(wrapper, frozenset())
            words = words[2 if takes else 1 :]
        elif own or "=" in word:
            own -= "=" not in word
            words = words[1:]
        else:
            return words
    return words


def _script(words: list[str]) -> str:
    """The script, module or command that an interpreter runs."""
    for number, word in enumerate(words):
        following = words[number + 1 :]
        if word in {"-c", "-lc"} and following:
            return command_name(following[0])
        if word == "-m" and following:
            return following[0].rpartition(".")[2]
        if word == "-jar" and following:
            return _dispatched(following)
        if not word.startswith("-"):
            return _dispatched(words[number:])
    return ""


def _dispatched(words: list[str]) -> str:
    name = PurePosixPath(words[0]).name.rsplit(".", 1)[0] or words[0]
    if name in _DISPATCHERS:
        return next((word for word in words[1:] if not word.startswith("-")), name)
    return name


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # a quote that does not end
        return command.split()
