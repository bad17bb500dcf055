"""Tests of users reach no real backend, whatever names it, unless they say so."""

from collections.abc import Iterator

import pytest

from . import projects
from .projects import HELLO, Server, files, run

pytest_plugins = ["pytester"]

ALLOW = (
    "use the fixture `drumbeat`, which gives the app an empty store in memory, or mark the test "
    "with @pytest.mark.drumbeat_real_store if it is meant to use the real one"
)
HANDLERS = """
from drumbeat import Drumbeat, Retry

app = Drumbeat("sqlite:///drumbeat.db")


@app.task
async def other(): ...


@app.task(process=True, retry=Retry.never())
def first():
    other.submit_sync()
"""
IN_MEMORY = """
from drumbeat import Drumbeat


async def test_an_app_in_memory(drumbeat_runtime):
    app = Drumbeat("memory://", runtime=drumbeat_runtime)

    @app.task
    async def greet(): ...

    async with app.running():
        job = await greet.submit()
        await app.jobs.result(job.id)
    assert app.settings.store == "memory://"
    assert app.settings.coordinator is None
    assert app.settings.concurrency == 7
"""
ANY_STORE = """
from drumbeat import Drumbeat

app = Drumbeat()


@app.task
async def greet(): ...


async def test_it_submits():
    await greet.submit()


def test_it_submits_without_a_loop():
    greet.submit_sync()


async def test_it_runs():
    async with app.running():
        pass


async def test_it_looks():
    await app.jobs.list()


async def test_it_survives_the_error():
    try:
        await greet.submit()
    except Exception:
        pass
"""


@pytest.fixture
def server() -> Iterator[Server]:
    with projects.server() as listening:
        yield listening
        assert not listening.connected


def refused(backend: str) -> str:
    return f"*a test may not use {backend}: {ALLOW}*"


class TestAnAppInMemoryStaysThere:
    def test_against_the_environment(
        self, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, server: Server
    ) -> None:
        monkeypatch.setenv("DRUMBEAT_STORE", f"postgresql://{server.address}/shop")
        monkeypatch.setenv("REDIS_URL", f"redis://{server.address}")
        monkeypatch.setenv("DRUMBEAT_CONCURRENCY", "7")  # other settings are read as always
        run(pytester, IN_MEMORY).assert_outcomes(passed=1)

    def test_against_a_dotenv_file(self, pytester: pytest.Pytester, server: Server) -> None:
        lines = (
            "DRUMBEAT_STORE=sqlite:///real.db",
            f"DRUMBEAT_COORDINATOR=redis://{server.address}",
            f"POSTGRES_DSN=postgresql://{server.address}/shop",
            "DRUMBEAT_CONCURRENCY=7",
        )
        (pytester.path / ".env").write_text("\n".join(lines), encoding="utf-8")
        run(pytester, IN_MEMORY).assert_outcomes(passed=1)
        assert files(pytester) == set()


class TestARealStoreIsRefused:
    def test_if_the_environment_names_it(
        self, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, server: Server
    ) -> None:
        address = server.address
        monkeypatch.setenv("DRUMBEAT_STORE", f"postgresql://anna:hunter2@{address}/shop")
        result = run(pytester, ANY_STORE)
        result.assert_outcomes(failed=5)
        store = f"the store postgresql://anna:[*][*][*]@{address}/shop"
        named = f"{store}, given by environment DRUMBEAT_STORE"
        result.stdout.fnmatch_lines([refused(named)] * 5)
        assert "hunter2" not in result.stdout.str()

    def test_if_a_dotenv_file_names_it(self, pytester: pytest.Pytester) -> None:
        (pytester.path / ".env").write_text("DRUMBEAT_STORE=sqlite:///real.db\n", encoding="utf-8")
        result = run(pytester, ANY_STORE)
        result.assert_outcomes(failed=5)
        named = "the store sqlite:///real.db, given by .env DRUMBEAT_STORE"
        result.stdout.fnmatch_lines([refused(named)] * 5)
        assert files(pytester) == set()

    def test_if_a_backends_own_variable_names_it(
        self, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, server: Server
    ) -> None:
        monkeypatch.setenv("POSTGRES_DSN", f"postgresql://{server.address}/shop")
        result = run(pytester, ANY_STORE)
        result.assert_outcomes(failed=5)
        result.stdout.fnmatch_lines(["*given by environment POSTGRES_DSN*"])

    def test_if_the_code_of_a_module_names_it(self, pytester: pytest.Pytester) -> None:
        pytester.makepyfile(hello=HELLO)
        pytester.makeconftest("import hello")  # earlier than any test module
        tests = """
            import hello

            async def test_an_order(): await hello.place_order(42)
            def test_an_order_without_a_loop(): hello.place_order_sync(42)
        """
        result = run(pytester, tests)
        result.assert_outcomes(failed=2)
        result.stdout.fnmatch_lines(
            [refused("the store sqlite:///drumbeat.db, given by the app's code")] * 2
        )
        assert files(pytester) == set()

    def test_while_modules_are_imported(self, pytester: pytest.Pytester) -> None:
        pytester.makepyfile(hello=f"{HELLO}\nplace_order_sync(42)\n")
        result = run(pytester, "import hello\ndef test_it(): ...")
        result.assert_outcomes(errors=1)
        result.stdout.fnmatch_lines(["*a test may not use the store sqlite:///drumbeat.db*"])
        assert files(pytester) == set()

    def test_in_the_processes_of_handlers(self, pytester: pytest.Pytester) -> None:
        pytester.makepyfile(hello=HANDLERS)
        tests = """
            import hello

            async def test_it(drumbeat):
                await hello.first.submit()
                assert (await drumbeat.drain()).failed == 1
                (job,) = drumbeat.submitted()
                assert "a test may not use the store sqlite:///drumbeat.db" in job.error
        """
        run(pytester, tests, ini="drumbeat_app = hello:app").assert_outcomes(passed=1)
        assert files(pytester) == set()

    def test_if_the_test_itself_names_it_and_if_it_is_a_coordinator(
        self, pytester: pytest.Pytester, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COORDINATOR", f"redis://{server.address}")
        tests = """
            import os

            from drumbeat import Drumbeat, LeaderElection

            async def test_a_store():
                async with Drumbeat("sqlite:///drumbeat.db").running(): ...

            async def test_a_coordinator():
                async with Drumbeat("memory://", coordinator=os.environ["COORDINATOR"]).running():
                    pass

            async def test_an_election():
                async with LeaderElection("web-1", os.environ["COORDINATOR"]) as election:
                    assert not await election.is_leader()
        """
        result = run(pytester, tests)
        result.assert_outcomes(failed=3)
        named = f"the coordinator redis://{server.address}, given by the app's code"
        result.stdout.fnmatch_lines([refused(named)] * 2)
        assert files(pytester) == set()


def test_an_app_that_names_no_store_can_be_imported_and_tested(pytester: pytest.Pytester) -> None:
    tests = """
        async def test_in_memory(drumbeat):
            await greet.submit()
            assert len(drumbeat.submitted()) == 1
    """
    pytester.makepyfile(hello=ANY_STORE)
    result = run(
        pytester,
        "from hello import *\n" + "\n".join(line[8:] for line in tests.splitlines()),
        ini="drumbeat_app = hello:app",
    )
    result.assert_outcomes(passed=1, failed=5)
    result.stdout.fnmatch_lines(["*no store is named: *; in a test, use the fixture `drumbeat`*"])


class TestARealStoreIsAllowed:
    TESTS = """
        import pytest

        import hello

        async def test_on_no_real_store():
            await hello.other.submit()

        @pytest.mark.drumbeat_real_store
        async def test_on_the_real_store():
            async with hello.app.running():
                await hello.first.submit()
                await hello.app.wait_until_idle()
                assert {job.status for job in (await hello.app.jobs.list()).items} == {"completed"}
    """
    AT_THE_END = """
        import hello

        def pytest_sessionfinish():
            try:
                hello.other.submit_sync()
            except Exception as error:
                print("at the end", error)
    """

    def test_to_a_test_that_is_marked_and_to_nobody_else(self, pytester: pytest.Pytester) -> None:
        pytester.makepyfile(hello=HANDLERS)
        pytester.makeconftest(self.AT_THE_END)
        result = run(pytester, self.TESTS, "--strict-markers")
        result.assert_outcomes(passed=1, failed=1)
        result.stdout.fnmatch_lines(["*at the end a test may not use the store *"])
        assert "drumbeat.db" in files(pytester)

    def test_to_all_tests_by_a_setting(self, pytester: pytest.Pytester) -> None:
        pytester.makepyfile(hello=HANDLERS)
        result = run(pytester, self.TESTS, "--strict-config", ini="drumbeat_real_store = true")
        result.assert_outcomes(passed=2)


def test_a_project_that_does_not_use_drumbeat_notices_nothing(pytester: pytest.Pytester) -> None:
    tests = """
        import os
        import sys

        def test_it():
            loaded = {name for name in sys.modules if name.split(".")[0] == "drumbeat"}
            assert loaded == {
                "drumbeat",
                "drumbeat.lazy_names",
                "drumbeat.ports",
                "drumbeat.ports.backend_guard",
                "drumbeat.testing",
                "drumbeat.testing.guard",
                "drumbeat.testing.plugin",
            }
            assert not [name for name in os.environ if name.startswith("DRUMBEAT")]
    """
    run(pytester, tests).assert_outcomes(passed=1)
