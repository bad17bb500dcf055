"""`drumbeat import crontab`: lines become schedules for tasks, and no shell is ever run."""

from __future__ import annotations

from pathlib import Path

import pytest

from drumbeat.cli.importing.crontab import read_crontab

from .support import Terminal

CRONTAB = """\
MAILTO=ops@example.org
CRON_TZ=Europe/Paris

# name: Nightly backup
0 2 * * * /usr/local/bin/backup.sh --full "my dir"

# Ping the health check
*/5 * * * * curl -s http://localhost/health | logger
*/5 * * * * curl -s http://localhost/other
@daily /opt/class
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "jobs.cron"
    path.write_text(CRONTAB, encoding="utf-8")
    return path


def test_a_dry_run_shows_what_would_be_created_and_changes_nothing(
    terminal: Terminal, file: Path
) -> None:
    answer = terminal("import", "crontab", str(file), "-o", "json")
    assert answer.code == 0, answer.err
    assert [line["name"] for line in answer.data["schedules"]] == [
        "nightly-backup",
        "ping-the-health-check",
        "curl",
        "class",
    ]
    assert answer.data["schedules"][0]["when"] == "At 02:00 every day (Europe/Paris)"
    assert answer.data["applied"] is False
    assert "Nothing was changed" in answer.err
    assert terminal("schedule", "list", "-o", "json").data == []


def test_applying_creates_the_schedules_once(terminal: Terminal, file: Path) -> None:
    assert terminal("import", "crontab", str(file), "--apply").code == 0
    stored = terminal("schedule", "show", "nightly-backup", "-o", "json").data
    assert (stored["task"], stored["trigger"]["tz"]) == ("nightly-backup", "Europe/Paris")
    again = terminal("import", "crontab", str(file), "--apply")
    assert (again.code, again.out) == (4, "")
    assert "there is a schedule 'nightly-backup' already; nothing was created" in again.err


def test_the_declarations_compile_and_run_no_shell(terminal: Terminal, file: Path) -> None:
    code = terminal("import", "crontab", str(file), "--python").out
    compile(code, "jobs.py", "exec")
    assert 'subprocess.run(["/usr/local/bin/backup.sh", "--full", "my dir"], check=True)' in code
    assert '@app.scheduled(cron("0 2 * * *", tz="Europe/Paris"), name="nightly-backup")' in code
    assert 'raise NotImplementedError("write ping-the-health-check without a shell")' in code
    assert "def task_class() -> None:" in code


def test_what_is_not_taken_over_is_named(terminal: Terminal, file: Path) -> None:
    assert "line 1: MAILTO is not taken over" in terminal("import", "crontab", str(file)).out


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("@reboot /bin/true", "@reboot has no time"),
        ("61 * * * * x", "minute: '61' is out of range"),
        ("*/60 * * * * x", "minute: step '60' is larger than the range 0-59"),
        ("@every 15m", "has no command after its times"),
        ("* * * * *", "has no command after its times"),
    ],
)
def test_a_line_that_cannot_be_a_schedule_is_named_with_the_reason(line: str, why: str) -> None:
    found = read_crontab(f"\n{line}\n", None)
    assert found.lines == []
    ((number, reason),) = found.refused
    assert number == 2
    assert why in reason


def test_words_that_stand_for_an_expression_are_taken() -> None:
    found = read_crontab("@every_minute /bin/x\n@every 15m /bin/y -z\n0 0 L-3W * * /bin/w", None)
    assert [(line.expression, line.command) for line in found.lines] == [
        ("@every_minute", "/bin/x"),
        ("@every 15m", "/bin/y -z"),
        ("0 0 L-3W * *", "/bin/w"),
    ]


def test_a_system_crontab_names_a_user_in_each_line() -> None:
    (line,) = read_crontab("0 2 * * * root /bin/x -y", None, has_user=True).lines
    assert (line.name, line.command) == ("x", "/bin/x -y")


def test_equal_names_are_numbered() -> None:
    found = read_crontab("0 1 * * * x\n0 2 * * * x", None)
    assert [line.name for line in found.lines] == ["x", "x-2"]


def test_a_file_that_does_not_exist_is_bad_usage(terminal: Terminal) -> None:
    answer = terminal("import", "crontab", "gone.cron")
    assert answer.code == 2
    assert "'gone.cron' does not exist" in answer.err


def test_a_comment_that_names_the_columns_names_no_task() -> None:
    text = "# m h  dom mon dow   command\n0 2 * * * /usr/bin/backup --all\n"
    assert [line.name for line in read_crontab(text, None).lines] == ["backup"]


def test_a_command_that_changes_its_folder_first_is_named_by_what_it_runs_there() -> None:
    text = "0 2 * * * cd /srv && ./report.sh\n0 3 * * * cd /srv; make all\n0 4 * * * cd /srv\n"
    assert [line.name for line in read_crontab(text, None).lines] == ["report", "make", "cd"]
