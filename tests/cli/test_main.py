"""What holds for every command: help, global options, exit codes, and the page about them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from drumbeat.cli.exit_codes import Exit, Problem, exit_for
from drumbeat.cli.main import COMMANDS, CommandEntry, command
from drumbeat.model import errors

from .support import Terminal, run

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def paths(group: click.Group = command, prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command, by its words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        yield (*prefix, name)
        if isinstance(found, click.Group):
            yield from paths(found, (*prefix, name))


ALL = [" ".join(path) for path in paths()]


@pytest.mark.parametrize("path", ALL)
def test_every_command_says_what_it_does_with_an_example(path: str) -> None:
    answer = run(*path.split(), "--help", columns=80)
    assert answer.code == 0, answer.err
    assert f"Usage: drumbeat {path}" in answer.out
    assert re.search(rf"Example:\n +(\S.* )?drumbeat .*{path.split()[-1]}", answer.out)
    assert all(len(line) <= 100 for line in answer.out.splitlines())


@pytest.mark.parametrize("path", ["", *ALL])
def test_every_option_says_what_it_is_for(path: str) -> None:
    found: click.Command = command
    for word in path.split():
        assert isinstance(found, click.Group)
        inner = found.get_command(click.Context(found), word)
        assert inner is not None
        found = inner
    options = [each for each in found.params if isinstance(each, click.Option)]
    assert [each.opts for each in options if not each.help] == []


@pytest.mark.parametrize("words", [(), ("schedule",), ("import",)])
def test_a_noun_by_itself_is_answered_with_its_help_and_exit_code_2(words: tuple[str, ...]) -> None:
    answer = run(*words)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(" ".join(("Usage: drumbeat", *words)))


@pytest.mark.parametrize("path", ALL)
def test_every_command_is_named_in_the_page(path: str) -> None:
    assert re.search(rf"`drumbeat {re.escape(path)}[ `]", PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("code", Exit, ids=lambda code: code.name)
def test_every_exit_code_is_in_the_page(code: Exit) -> None:
    assert re.search(rf"^\| {code.value} \| \w.* \|$", PAGE.read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_every_command_of_the_list_is_where_the_list_says(entry: CommandEntry) -> None:
    found = command.get_command(click.Context(command), entry.name)
    assert found is not None
    assert found.name == entry.name
    assert entry.help.endswith(".")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("shedule",), "no command is named 'shedule'; did you mean 'schedule'?"),
        (("schedule", "lst"), "no command is named 'lst'; did you mean 'list'?"),
        (("job", "frobnicate"), "no command is named 'frobnicate'; there are cancel, list,"),
        (("queue", "--colour"), "No such option"),
        (("job", "show", "x"), "'x' is not a whole number"),
        (("queue", "-o", "xml"), "'xml' is not one of 'table', 'json'"),
        (("job", "show"), "Missing argument 'ID'"),
        (("completion",), "Missing argument 'SHELL'. Choose from: bash, zsh, fish"),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(arguments: tuple[str, ...], sentence: str) -> None:
    answer = run(*arguments)
    assert (answer.code, answer.out) == (2, "")
    assert len(answer.err.splitlines()) == 1
    assert sentence in answer.err
    assert "--help`." in answer.err


def test_global_options_may_stand_before_and_after_the_command(terminal: Terminal) -> None:
    before = terminal("-o", "json", "queue")
    after = terminal("queue", "-o", "json")
    assert (before.code, before.out) == (after.code, after.out) == (0, "{}\n")
    assert terminal("-o", "json", "queue", "-o", "table").out == "There are no jobs.\n"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UnknownJob(1), Exit.NOT_FOUND),
        (errors.UnknownTask("x", ()), Exit.NOT_FOUND),
        (errors.Contended("x"), Exit.CONFLICT),
        (errors.LockHeld("x"), Exit.CONFLICT),
        (errors.Unavailable("x"), Exit.UNAVAILABLE),
        (errors.InvalidInput("x"), Exit.USAGE),
        (errors.ConfigurationError("x"), Exit.USAGE),
        (errors.DuplicateTask("x"), Exit.USAGE),
        (errors.WaitTimeout("x"), Exit.FAILED),
        (Problem("x", Exit.CONFLICT), Exit.CONFLICT),
        (KeyboardInterrupt(), Exit.INTERRUPTED),
        (ZeroDivisionError(), Exit.FAILED),
    ],
)
def test_each_kind_of_error_has_its_exit_code(error: BaseException, code: Exit) -> None:
    assert exit_for(error) is code


def test_an_error_nobody_thought_of_is_one_sentence_without_a_traceback(
    at_the_store: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> object:
        raise ZeroDivisionError("of postgresql://anna:hunter2@db")

    monkeypatch.setattr(at_the_store.app.store.queues.__class__, "list", broken)
    answer = at_the_store("queue")
    assert answer.code == 1
    assert answer.err == (
        "Error: unexpected error: ZeroDivisionError: of "
        "postgresql://anna:***@db (--debug shows the traceback)\n"
    )


def test_an_interruption_ends_with_130(
    at_the_store: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(at_the_store.app.store.queues.__class__, "list", interrupted)
    answer = at_the_store("queue")
    assert (answer.code, answer.err.strip()) == (130, "Interrupted.")


def test_without_any_store_the_ways_to_name_one_are_told(terminal: Terminal) -> None:
    answer = run("schedule", "list")
    assert answer.code == 2
    assert "no store is named, and there is no drumbeat.db here: give --store URL" in answer.err


def test_several_processes_cannot_serve_at_one_address() -> None:
    for arguments in (("api", "x:app"), ("run", "x:app", "--roles", "worker,api")):
        answer = run(*arguments, "--processes", "2")
        assert (answer.code, answer.out) == (2, "")
        assert "several processes cannot listen at one address" in answer.err


def test_an_api_needs_to_know_its_app() -> None:
    answer = run("api")
    assert (answer.code, answer.out) == (2, "")
    assert "no app is given; write its path" in answer.err


def test_the_help_needs_neither_the_engine_nor_the_tables() -> None:
    code = (
        "import sys\n"
        "from drumbeat.cli.main import command\n"
        "try:\n"
        "    command.main(['--help'])\n"
        "except SystemExit:\n"
        "    pass\n"
        "late = ['drumbeat.app', 'drumbeat.config', 'rich', 'asyncio', 'msgspec', 'watchfiles']\n"
        "print([name for name in late if name in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=90
    )
    assert done.stderr.strip() == "[]"


def test_the_version_is_told() -> None:
    assert run("--version").out.startswith("drumbeat ")
