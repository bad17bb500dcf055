"""The fixtures in projects of users: their app belongs to a module, as in the README."""

import pytest

from .projects import HELLO, files, run

pytest_plugins = ["pytester"]

ORDERS = """
import pytest

import hello
from hello import cleanup, place_order, place_order_sync, send_receipt


@pytest.mark.parametrize("order_id", [1, 2])
async def test_an_order_gets_a_receipt(drumbeat, order_id):
    await place_order(order_id)
    drumbeat.assert_submitted(send_receipt, order_id=order_id)
    assert len(drumbeat.submitted()) == 1
    assert (await drumbeat.drain()).completed == 1


async def test_it_is_cleaned_at_night(drumbeat):
    async with drumbeat.running():
        await drumbeat.advance("2d")
    drumbeat.assert_submitted(cleanup, times=2)


@pytest.mark.parametrize("order_id", [1, 2])
def test_code_without_a_loop(drumbeat_sync, order_id):
    place_order_sync(order_id)
    drumbeat_sync.assert_submitted(send_receipt, order_id)
    assert drumbeat_sync.drain().completed == 1


def test_a_night_without_a_loop(drumbeat_sync):
    with drumbeat_sync.running():
        place_order_sync(42)
        drumbeat_sync.advance("1d")
    drumbeat_sync.assert_submitted(cleanup, times=1)


def test_the_app_is_as_it_was():
    assert hello.app.settings.store == "sqlite:///drumbeat.db"
"""
NAMED = "drumbeat_app = hello:app"


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "two processes"])
def test_the_app_that_the_settings_name_is_isolated(
    pytester: pytest.Pytester, options: tuple[str, ...]
) -> None:
    pytester.makepyfile(hello=HELLO)
    result = run(pytester, ORDERS, "--strict-config", *options, ini=NAMED)
    result.assert_outcomes(passed=7)
    assert files(pytester) == set()


def test_the_app_that_a_fixture_returns_is_isolated(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(hello=HELLO)
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture
        def drumbeat_app():
            from hello import app

            return app
        """
    )
    run(pytester, ORDERS).assert_outcomes(passed=7)
    assert files(pytester) == set()


def test_every_plugin_for_coroutines_will_do(pytester: pytest.Pytester) -> None:
    tests = """
        import pytest

        from hello import cleanup, place_order, send_receipt

        @pytest.fixture
        def anyio_backend():
            return "asyncio"

        @pytest.mark.anyio
        async def test_with_anyio(drumbeat):
            await place_order(42)
            drumbeat.assert_submitted(send_receipt, 42)
            async with drumbeat.running():
                await drumbeat.advance("1d")
            drumbeat.assert_submitted(cleanup, times=1)

        @pytest.mark.asyncio
        async def test_with_pytest_asyncio(drumbeat):
            await place_order(42)
            async with drumbeat.running():
                await drumbeat.advance("1d")
            drumbeat.assert_submitted(cleanup, times=1)
    """
    pytester.makepyfile(hello=HELLO)
    run(pytester, tests, "-o", "asyncio_mode=strict", ini=NAMED).assert_outcomes(passed=2)


def test_an_app_that_is_not_named_or_not_found_is_an_error_that_says_so(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(hello="nothing = 1")
    tests = "def test_it(drumbeat): ..."
    result = run(pytester, tests)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*set `drumbeat_app = MODULE:NAME` in the pytest configuration*"])
    result = run(pytester, tests, ini=NAMED)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["drumbeat_app = hello:app: module 'hello' has no 'app'"])
