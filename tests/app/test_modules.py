"""Apps of several modules: `include`, autodiscover and blueprints."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from drumbeat import Blueprint, Context, Drumbeat, ScheduledTask, Task, cron, every
from drumbeat.engine.tasks.handle import TaskSettings
from drumbeat.model.errors import (
    ConfigurationError,
    DuplicateSchedule,
    DuplicateTask,
    UnknownTask,
)
from drumbeat.model.events import Event, JobSubmitted
from drumbeat.testing import isolated

APP = (
    "from drumbeat import Drumbeat\napp = Drumbeat('memory://', environment={}, include=INCLUDE)\n"
)
TASK = """
from {package}.app import app

@app.task
async def {name}() -> str:
    return "done"
"""

MakePackage = Callable[..., str]


@pytest.fixture
def make_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> MakePackage:
    """Makes a package of a user from files by path; returns its name, which is used once."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    name = f"shop_{abs(hash(request.node.name)):x}"

    def make(**files: str) -> str:
        folder = tmp_path / name
        for path, text in files.items():
            file = folder / f"{path.replace('__', '/')}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text.replace("{package}", name), encoding="utf-8")
        return name

    return make


def task(name: str) -> str:
    return TASK.replace("{name}", name)


def app_of(package: str) -> Drumbeat:
    found: Drumbeat = __import__(f"{package}.app", fromlist=["app"]).app
    return found


async def test_the_modules_of_include_are_imported_at_the_start(make_package: MakePackage) -> None:
    package = make_package(
        app=APP.replace("INCLUDE", "['{package}.tasks', '{package}.reports']"),
        tasks=task("pack"),
        reports=task("report"),
    )
    app = app_of(package)
    assert app.tasks == set()  # they import the app, so it is made first
    async with app.running():
        assert app.tasks == {"pack", "report"}
        job = await app.task_named("report").submit()
        assert await app.jobs.result(job.id, 30) == "done"


def test_a_module_that_cannot_be_imported_stops_the_start_with_its_cause(
    make_package: MakePackage, capsys: pytest.CaptureFixture[str]
) -> None:
    package = make_package(
        app=APP.replace("INCLUDE", "['{package}.tasks']"), tasks="\n\nimport absent_module\n"
    )
    with pytest.raises(SystemExit) as exit_info:
        app_of(package).run()
    assert exit_info.value.code == 2
    told = capsys.readouterr().err
    assert f"module '{package}.tasks' of include cannot be imported" in told
    assert "No module named 'absent_module'" in told
    assert "tasks.py:3" in told


async def test_a_failed_import_is_tried_again(make_package: MakePackage, tmp_path: Path) -> None:
    package = make_package(app=APP.replace("INCLUDE", "['{package}.late']"))
    app = app_of(package)
    with pytest.raises(ConfigurationError, match=f"No module named '{package}.late'"):
        await app.start()
    sys.path_importer_cache.pop(str(tmp_path / package), None)
    make_package(late=task("late"))
    app.load_modules()
    assert app.tasks == {"late"}


def test_include_is_a_list() -> None:
    with pytest.raises(ConfigurationError, match=r"a list of modules, such as \['shop.tasks'\]"):
        Drumbeat("memory://", include="shop.tasks")


def test_autodiscover_finds_the_modules_of_a_package_and_no_tests(
    make_package: MakePackage,
) -> None:
    broken = "raise RuntimeError('this is not imported')"
    package = make_package(
        app=APP.replace("INCLUDE", "()"),
        tasks=task("top"),
        billing__tasks=task("bill"),
        mail__tasks____init__="",
        mail__tasks__letters=task("letter"),
        mail__tests__tasks=broken,
        tests__tasks__more=broken,
        other=broken,
    )
    app = app_of(package)
    app.autodiscover(package)
    assert app.tasks == set()
    app.load_modules()
    app.load_modules()
    assert app.tasks == {"top", "bill", "letter"}


@pytest.mark.parametrize(
    ("package", "why"),
    [
        ("no_such_package", "cannot search 'no_such_package': there is no such package"),
        ("json.decoder", "cannot search 'json.decoder': it is a module and not a package"),
        ("json", "no module named 'tasks' in the package 'json'"),
    ],
)
def test_autodiscover_says_what_it_cannot_search(package: str, why: str) -> None:
    app = Drumbeat("memory://")
    app.autodiscover(package)
    with pytest.raises(ConfigurationError, match=why):
        app.load_modules()


def test_an_isolated_app_keeps_the_tasks_of_its_modules(make_package: MakePackage) -> None:
    package = make_package(app=APP.replace("INCLUDE", "['{package}.tasks']"), tasks=task("pack"))
    app = app_of(package)
    for _ in range(2):
        with isolated(app):
            assert app.tasks == {"pack"}


def test_the_command_line_knows_the_tasks_of_all_modules(
    make_package: MakePackage, tmp_path: Path
) -> None:
    package = make_package(
        app=APP.replace("INCLUDE", "['{package}.tasks']").replace("memory://", "sqlite:///x.db"),
        tasks=task("pack"),
    )
    command = [sys.executable, "-m", "drumbeat", "--app", f"{package}.app:app", "task", "list"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "pack" in done.stdout, done.stderr


@pytest.fixture
def app() -> Drumbeat:
    return Drumbeat("memory://", environment={})


def billing() -> tuple[Blueprint, Task[[int], str]]:
    blueprint = Blueprint("billing", prefix="billing.")

    @blueprint.task(timeout=30)
    async def charge(order_id: int) -> str:
        return f"charged {order_id}"

    @blueprint.scheduled(every(hours=1))
    async def remind() -> None: ...

    blueprint.schedule(charge, every(hours=2), name="often", args=(1,))
    return blueprint, charge


class Sweep(ScheduledTask):
    name = "sweep"
    schedule = every(hours=1)

    async def execute(self, ctx: Context) -> None: ...


async def test_an_app_takes_over_what_a_blueprint_declares(app: Drumbeat) -> None:
    blueprint, charge = billing()
    blueprint.register(Sweep())
    app.include(blueprint)
    assert app.tasks == {"billing.charge", "billing.remind", "billing.sweep"}
    with isolated(app) as test:
        await charge.submit(7)
        assert (await test.drain()).completed == 1
        (job,) = test.submitted(charge)
        assert charge.result(job) == "charged 7"
        async with test.running():
            names = [each.name for each in (await app.schedules.list()).items]
    assert names == ["billing.often", "billing.remind", "billing.sweep"]


def test_a_task_of_a_blueprint_without_an_app_says_what_to_call() -> None:
    _, charge = billing()
    assert charge.name == "billing.charge"
    with pytest.raises(ConfigurationError, match="no app includes the blueprint 'billing' yet"):
        charge.submit_sync(7)
    with pytest.raises(ConfigurationError, match="no app includes the blueprint 'billing' yet"):
        charge.options(connection=object())


async def test_what_a_blueprint_declares_later_belongs_to_the_app(app: Drumbeat) -> None:
    blueprint, _ = billing()
    app.include(blueprint)

    @blueprint.task
    async def refund() -> None: ...

    with isolated(app) as test:
        await refund.submit()
        assert (await test.drain()).completed == 1


async def test_listeners_of_a_blueprint_hear_the_app(app: Drumbeat) -> None:
    blueprint, charge = billing()
    heard: list[Event] = []
    blueprint.on(JobSubmitted)(heard.append)
    app.include(blueprint)
    later: list[Event] = []
    blueprint.on(JobSubmitted)(later.append)
    async with app.connected():
        await charge.submit(1)
    assert [type(event) for event in heard] == [JobSubmitted]
    assert later == heard


def test_a_blueprint_belongs_to_one_app(app: Drumbeat) -> None:
    blueprint, _ = billing()
    app.include(blueprint)
    with pytest.raises(ConfigurationError, match="'billing' is included in an app already"):
        Drumbeat("memory://", environment={}).include(blueprint)


async def nothing() -> None: ...


def test_a_name_that_is_taken_includes_nothing(app: Drumbeat) -> None:
    blueprint, _ = billing()
    app.task(name="billing.charge")(nothing)
    with pytest.raises(DuplicateTask, match=r"billing\.charge"):
        app.include(blueprint)
    assert app.tasks == {"billing.charge"}
    with pytest.raises(UnknownTask):
        app.task_named("billing.remind")

    other, _ = billing()
    fresh = Drumbeat("memory://", environment={})
    fresh.schedule(fresh.task(name="x")(nothing), every(hours=1), name="billing.often")
    with pytest.raises(DuplicateSchedule, match=r"billing\.often"):
        fresh.include(other)
    assert fresh.tasks == {"x"}


def test_only_a_blueprint_is_included(app: Drumbeat) -> None:
    given: object = "shop.tasks"
    with pytest.raises(ConfigurationError, match=r"takes a Blueprint, not 'shop.tasks'; modules"):
        app.include(given)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


async def test_a_child_process_runs_a_task_of_a_blueprint(
    make_package: MakePackage,
) -> None:
    package = make_package(
        jobs="""
import os
from drumbeat import Blueprint

parts = Blueprint("parts", prefix="parts.")

@parts.task(process=True)
def pid() -> int:
    return os.getpid()
"""
    )
    parts: Blueprint = __import__(f"{package}.jobs", fromlist=["parts"]).parts
    app = Drumbeat("memory://", environment={})
    app.include(parts)
    async with app.running():
        job = await app.task_named("parts.pid").submit()
        assert await app.jobs.result(job.id, 60) != 0


async def test_the_defaults_of_the_app_hold_for_what_its_blueprint_declared() -> None:
    billing = Blueprint("billing", prefix="billing.")

    @billing.task(priority=7)
    async def charge(order: int) -> None: ...

    urgent = charge.options(priority=90)
    billing.schedule(charge.options(timeout=5), "0 2 * * *", name="nightly", args=(1,))

    @billing.scheduled(cron("0 3 * * *", tz="Asia/Tokyo"), queue="slow")
    async def remind() -> None: ...

    class Sweep(ScheduledTask):
        name = "sweep"
        schedule = "0 4 * * *"

        async def execute(self, ctx: Context) -> None: ...

    billing.register(Sweep())
    defaults: TaskSettings = {"queue": "mail", "timeout": 30, "priority": 3}
    app = Drumbeat("memory://", environment={}, tz="Europe/Paris", task_defaults=defaults)
    app.include(billing)

    spec = charge.job(1)
    assert (spec.queue, spec.priority, spec.timeout) == ("mail", 7, 30)
    spec = urgent.job(1)
    assert (spec.queue, spec.priority, spec.timeout) == ("mail", 90, 30)
    spec = charge.options(queue="now").job(1)
    assert (spec.queue, spec.priority) == ("now", 7)

    async with app.running():
        stored = (await app.schedules.list()).items
    declared = {each.name: each.schedule for each in stored}
    nightly, reminding = declared["billing.nightly"], declared["billing.remind"]
    sweeping = declared["billing.sweep"]
    assert (nightly.job.queue, nightly.job.priority, nightly.job.timeout) == ("mail", 7, 5)
    assert (reminding.job.queue, reminding.job.priority) == ("slow", 3)
    assert "Europe/Paris" in nightly.trigger.describe()
    assert "Asia/Tokyo" in reminding.trigger.describe()
    assert (sweeping.job.queue, "Europe/Paris" in sweeping.trigger.describe()) == ("mail", True)
