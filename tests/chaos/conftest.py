"""Leaves out the slow fault tests; the summary says so, and prints the chaos table."""

from collections.abc import Callable

import pytest
from rich.console import Console

from chaos.figures import Figures
from chaos.table import table

chaos_table = pytest.StashKey[list[Figures]]()
"""The figures of the chaos runs."""
left_out = pytest.StashKey[int]()
IN_TIME = "in time"
"""The property of a test report with the number of tries that were in time."""


@pytest.fixture
def report_tries(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Add a line to the summary, also from a worker process of pytest."""
    return lambda text: request.node.user_properties.append((IN_TIME, text))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "chaos: runs only by `make chaos`, since it takes minutes")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out slow tests, unless a mark or single tests were selected."""
    if config.option.markexpr or any("::" in argument for argument in config.args):
        return
    marked = [item for item in items if item.get_closest_marker("chaos")]
    items[:] = [item for item in items if not item.get_closest_marker("chaos")]
    config.stash[left_out] = len(marked)
    config.hook.pytest_deselected(items=marked)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the chaos table, the tries in time, and what was left out."""
    if figures := config.stash.get(chaos_table, None):
        terminalreporter.write_sep("-", "chaos")
        console = Console(width=110, highlight=False)
        with console.capture() as shown:
            console.print(table(figures))
        terminalreporter.write_line(shown.get())
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    lines = [
        text
        for report in reports
        if report.when == "call"
        for name, text in report.user_properties
        if name == IN_TIME
    ]
    if lines:
        terminalreporter.write_sep("-", "tries in time")
        for text in lines:
            terminalreporter.write_line(str(text))
    if count := config.stash.get(left_out, 0):
        line = (
            f"NOT RUN: {count} slow fault tests of coordinators and stores; `make chaos` runs them."
        )
        terminalreporter.write_line(line, red=True, bold=True)
