"""`drumbeat import crontab`: lines become schedules for tasks, and no shell is ever run."""

from __future__ import annotations

from pathlib import Path

import pytest

from drumbeat.cli.importing.command_name import command_name
from drumbeat.cli.importing.crontab import read_crontab
from drumbeat.cli.importing.declaration import declarations
from drumbeat.cli.output import zone_name as zones

from .support import Terminal, run

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


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("/usr/bin/python3 manage.py clearsessions", "clearsessions"),
        ("cd /srv && /usr/bin/python3 /srv/report.py --all > /dev/null 2>&1", "report"),
        ("python3.11 -m shop.jobs.cleanup", "cleanup"),
        ("sudo -u www php /var/www/artisan schedule:run", "schedule:run"),
        ("PATH=/bin LANG=C /usr/bin/env FOO=1 node /srv/server.js", "server"),
        ("/usr/bin/flock -n /tmp/lock nice -n 19 timeout 5m /opt/sync.sh", "sync"),
        ('bash -lc "cd /srv && ./nightly"', "nightly"),
        ("test -x /usr/sbin/anacron || ( cd / && run-parts /etc/cron.daily )", "run-parts"),
        ("[ -d /srv ] && curl -s http://localhost", "curl"),
        ("echo 'unfinished", "echo"),
        ("sudo", "sudo"),
    ],
)
def test_a_command_is_named_after_what_it_runs(command: str, name: str) -> None:
    assert command_name(command) == name


def test_the_shell_is_called_only_by_generated_code_that_was_asked_for(
    terminal: Terminal, file: Path
) -> None:
    answer = terminal("import", "crontab", str(file), "--python", "--run-shell")
    assert answer.code == 0, answer.err
    shell = '["/bin/sh", "-c", "curl -s http://localhost/health | logger"], check=True)'
    assert f"subprocess.run({shell}" in answer.out
    assert '["/usr/local/bin/backup.sh", "--full", "my dir"]' in answer.out
    assert "NotImplementedError" not in answer.out
    refused = terminal("import", "crontab", str(file), "--run-shell", "--apply")
    assert (refused.code, refused.out) == (2, "")
    assert terminal("schedule", "list", "-o", "json").data == []


def test_a_percent_sign_begins_the_input_of_a_command() -> None:
    found = read_crontab("0 2 * * * mail -s 5\\% x@y%Hello%you\n", None)
    code = declarations(found.lines, run_shell=True)
    assert '["/bin/sh", "-c", "mail -s 5% x@y"], input="Hello\\nyou\\n", text=True' in code


def test_generated_functions_take_no_name_that_the_module_needs() -> None:
    found = read_crontab("0 1 * * * php /srv/cron.php\n0 2 * * * /opt/app\n0 3 * * * x\n", None)
    names: dict[str, object] = {}
    code = declarations(found.lines, run_shell=False).replace("Drumbeat()", 'Drumbeat("memory://")')
    exec(compile(code, "jobs.py", "exec"), names)
    assert {"task_cron", "task_app", "x"} <= set(names)


def test_times_without_a_zone_have_that_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.cron").write_text("0 2 * * * x\n", encoding="utf-8")

    def imported(*options: str) -> tuple[str, str]:
        answer = run("import", "crontab", "jobs.cron", "-o", "json", *options)
        return answer.data["schedules"][0]["when"], answer.err

    monkeypatch.setenv("TZ", "Asia/Tokyo")
    when, err = imported()
    assert when == "At 02:00 every day (Asia/Tokyo)"
    assert "Times are read in Asia/Tokyo, the zone of this machine" in err
    assert imported("--tz", "Europe/Paris")[0] == "At 02:00 every day (Europe/Paris)"
    monkeypatch.delenv("TZ")
    monkeypatch.setattr(zones, "LOCAL_TIME", tmp_path / "localtime")
    monkeypatch.setattr(zones, "TIMEZONE", tmp_path / "timezone")
    assert imported()[0] == "At 02:00 every day (UTC)"
    (tmp_path / "timezone").write_text("Europe/Berlin\n", encoding="utf-8")
    assert imported()[0] == "At 02:00 every day (Europe/Berlin)"
    (tmp_path / "localtime").symlink_to("/usr/share/zoneinfo/America/New_York")
    assert imported()[0] == "At 02:00 every day (America/New_York)"
