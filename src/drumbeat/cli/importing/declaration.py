"""The Python code that declares the task and the schedule of a line of a crontab.

Nothing of a crontab is run: the code is printed, for a person to read and to paste into an app.
"""

from __future__ import annotations

import json
import keyword
import re
import shlex
from collections.abc import Sequence

from drumbeat.cli.importing.crontab import Line

SHELL = "/bin/sh"
_SHELL_SIGNS = frozenset("|&;<>()$`\\\n*?[#~%")
_TAKEN = frozenset({"app", "cron", "subprocess"})
"""Names that the module has already."""
_PERCENT = re.compile(r"(?<!\\)%")
"""The first one in a command ends it, and what follows is its standard input, line by line."""


def declarations(lines: Sequence[Line], *, run_shell: bool) -> str:
    """A module that declares a task and a schedule for each line.

    A command that needs the shell becomes a note, or with `run_shell` a call of `/bin/sh`.
    """
    parts = [
        '"""Tasks that were brought over from a crontab."""',
        "",
        "import subprocess",
        "",
        "from drumbeat import Drumbeat, cron",
        "",
        "app = Drumbeat()",
    ]
    for line in lines:
        parts += ["", "", *_declaration(line, run_shell=run_shell)]
    return "\n".join(parts)


def _declaration(line: Line, *, run_shell: bool) -> list[str]:
    when = _literal(line.expression) + (f", tz={_literal(line.tz)}" if line.tz else "")
    return [
        f"@app.scheduled(cron({when}), name={_literal(line.name)})",
        f"def {_function(line.name)}() -> None:",
        *(f"    {each}" for each in _body(line, run_shell=run_shell)),
    ]


def _body(line: Line, *, run_shell: bool) -> list[str]:
    if _SHELL_SIGNS.isdisjoint(line.command):
        return [f"subprocess.run([{_literals(shlex.split(line.command))}], check=True)"]
    if not run_shell:
        return [
            f"# It used the shell: {line.command}",
            f'raise NotImplementedError("write {line.name} without a shell")',
        ]
    command, *fed = (part.replace("\\%", "%") for part in _PERCENT.split(line.command))
    words = _literals([SHELL, "-c", command.strip()])
    if not fed:
        return [f"subprocess.run([{words}], check=True)"]
    text = _literal("".join(f"{each}\n" for each in fed))
    return [f"subprocess.run([{words}], input={text}, text=True, check=True)"]


def _function(name: str) -> str:
    function = re.sub(r"\W", "_", name)
    if function[0].isdecimal() or keyword.iskeyword(function) or function in _TAKEN:
        return f"task_{function}"
    return function


def _literals(words: Sequence[str]) -> str:
    return ", ".join(map(_literal, words))


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
