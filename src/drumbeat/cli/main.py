"""`drumbeat`: the list of commands. Each is imported when it is used."""

from __future__ import annotations

import sys
import traceback
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, NoReturn

import click

from drumbeat.cli.command import Group
from drumbeat.cli.exit_codes import Exit, Problem, exit_for
from drumbeat.cli.session.session import Session
from drumbeat.model.visible_text import visible


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command: its module, and its help in one line."""

    name: str
    module: str
    help: str
    attribute: str = "command"


COMMANDS = (
    CommandEntry("demo", "demo", "Show how a fleet survives the loss of its leader."),
    CommandEntry("dev", "dev", "Run everything here on one SQLite file, and reload on changes."),
    CommandEntry("run", "run", "Run a node of the fleet until a signal stops it."),
    CommandEntry("scheduler", "run", "Run a node that only schedules.", "scheduler"),
    CommandEntry("worker", "run", "Run a node that only works.", "worker"),
    CommandEntry("api", "run", "Run a node that only serves HTTP.", "api"),
    CommandEntry("overview", "overview", "Show what needs attention."),
    CommandEntry("schedule", "schedule.schedule", "List, show, change and explain schedules."),
    CommandEntry("job", "job.job", "Submit, list, show, cancel and retry jobs, and wait for them."),
    CommandEntry("operation", "operation", "List, show and cancel bulk changes of jobs."),
    CommandEntry("queue", "queue", "Show what waits in each queue; pause and resume queues."),
    CommandEntry("task", "task", "List the tasks that an app knows."),
    CommandEntry("node", "node", "List and drain the nodes of the fleet."),
    CommandEntry(
        "leader", "leader", "Show who leads and who led, and ask the leader to hand over."
    ),
    CommandEntry("token", "token", "Create, list and revoke the tokens of the HTTP API."),
    CommandEntry("audit", "audit", "Show who changed what, and why."),
    CommandEntry("events", "events", "Print what happens in the fleet, as it happens."),
    CommandEntry("cron", "cron", "Explain a cron expression, and show when it runs next."),
    CommandEntry("config", "config", "Show settings; read and write values that the fleet shares."),
    CommandEntry("doctor", "doctor", "Check this machine, the store and the fleet."),
    CommandEntry("healthcheck", "healthcheck", "Ask a node here whether it is well: 0 or 1."),
    CommandEntry("db", "db", "Show and apply the migrations of the store."),
    CommandEntry("import", "import_crontab", "Import schedules from a crontab.", "import_from"),
    CommandEntry("bench", "bench", "Measure how fast a store is on this machine."),
    CommandEntry("completion", "completion", "Print the completion script of a shell."),
)
"""Every command, in the order of the help."""


class Commands(Group):
    """The commands of the list."""

    root = True
    entries: ClassVar = {entry.name: entry for entry in COMMANDS}

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        module = import_module(f"drumbeat.cli.commands.{entry.module}")
        found: click.Command = getattr(module, entry.attribute)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One line for each, without loading any."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(entry.name, entry.help) for entry in COMMANDS])

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run; an error ends with one sentence and an exit code."""
        extra["standalone_mode"] = False
        session = extra.setdefault("obj", None) or Session()
        extra["obj"] = session
        try:
            outcome = super().main(*args, **extra)
        except click.exceptions.Exit as ended:
            sys.exit(ended.exit_code)
        except click.Abort:
            _end(session, KeyboardInterrupt())
        except click.ClickException as error:
            _refuse(error)
        except BrokenPipeError:  # the reader of our output has closed it
            sys.stderr.close()
            sys.exit(Exit.OK)
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the last resort
            _end(session, error)
        sys.exit(outcome if isinstance(outcome, int) else Exit.OK)


def _end(session: Session, error: BaseException) -> NoReturn:
    if session.debug:
        traceback.print_exception(error)
    code = exit_for(error)
    for line in _sentences(error, code):
        click.echo(visible(line), err=True)
    sys.exit(code)


def _sentences(error: BaseException, code: Exit) -> list[str]:
    from drumbeat.config.mask import masked  # noqa: PLC0415 - the settings, when needed
    from drumbeat.model.errors import DrumbeatError  # noqa: PLC0415 - the model, when needed

    if code is Exit.INTERRUPTED:
        return ["Interrupted."]
    if isinstance(error, DrumbeatError | Problem):
        return [f"Error: {masked(line)}" for line in str(error).splitlines()]
    what = masked("".join(traceback.format_exception_only(error)).strip())
    return [f"Error: unexpected error: {what} (--debug shows the traceback)"]


PLAIN_WORDS = (
    ("is not a valid integer range", "is not a whole number"),
    ("is not a valid integer", "is not a whole number"),
    ("is not a valid float range", "is not a number"),
)
"""What click says about invalid values, and what we say."""


def _refuse(error: click.ClickException) -> NoReturn:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)  # the help of what needs a command
        sys.exit(error.exit_code)
    where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else ""
    hint = f" See `{where} --help`." if where else ""
    message = " ".join(error.format_message().split())
    for theirs, ours in PLAIN_WORDS:
        message = message.replace(theirs, ours)
    end = "" if message.endswith((".", "?")) else "."
    click.echo(visible(f"Error: {message}{end}{hint}"), err=True)
    sys.exit(error.exit_code)


def _version(ctx: click.Context, _parameter: click.Parameter, asked: object) -> None:
    if asked and not ctx.resilient_parsing:
        from drumbeat.version import VERSION  # noqa: PLC0415 - reading it takes a while

        click.echo(f"drumbeat {VERSION}")
        ctx.exit()


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_version,
    help="Show the version.",
)
def command() -> None:
    """Cron for fleets: schedules that fire exactly once, and jobs that are never lost.

    The options below may stand before or after any command. Data goes to standard output,
    messages to standard error.

    Example:
      drumbeat dev                          run everything here, with sample tasks
      drumbeat schedule list                in a second terminal
      drumbeat run shop.jobs:app            a node of the fleet
    """


def main() -> None:
    command.main(prog_name="drumbeat")
