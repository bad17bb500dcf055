"""The pytest plugin, as a user's test run meets it."""

import pytest

pytest_plugins = ["pytester"]

TESTS = """
import asyncio

from drumbeat import Drumbeat


def declare(app):
    @app.scheduled("0 2 * * *")
    async def cleanup(): ...


def test_the_clock_moves_the_app(drumbeat_clock, drumbeat_runtime):
    app = Drumbeat("memory://", runtime=drumbeat_runtime)
    declare(app)

    async def main():
        async with app.running():
            await drumbeat_clock.advance("3h")
            return len((await app.jobs.list()).items)

    assert asyncio.run(main()) == 1


def test_each_test_has_a_clock_of_its_own(drumbeat_clock):
    assert drumbeat_clock.elapsed() == 0


def test_a_cluster_is_on_the_clock(drumbeat_clock, drumbeat_cluster):
    async def main():
        async with drumbeat_cluster(declare, nodes=2) as cluster:
            await cluster.wait_for_leader()
            await cluster.advance("1m")
            return len(cluster.nodes), cluster.clock is drumbeat_clock

    assert asyncio.run(main()) == (2, True)
"""


def test_its_fixtures_work_without_any_plugin_for_asynchronous_tests(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(TESTS)
    run = pytester.runpytest_subprocess("-p", "no:asyncio", "-W", "error")
    run.assert_outcomes(passed=3)
