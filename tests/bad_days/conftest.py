"""Which bad days are left out of a run; the end of it says so, and prints the chaos table."""

from collections.abc import Callable

import pytest
from rich.console import Console

from chaos.figures import Figures
from chaos.table import table

chaos_table = pytest.StashKey[list[Figures]]()
"""The figures of the days that were played."""
left_out = pytest.StashKey[int]()
IN_TIME = "in time"
"""The property of a test's report that says how many of its tries were in time."""


@pytest.fixture
def tell(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Let the end of the run say how many tries were in time; other processes' tests too."""
    return lambda text: request.node.user_properties.append((IN_TIME, text))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "chaos: runs only by `make chaos`, since it takes minutes")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes long, unless the marks or the very tests were chosen by hand."""
    if config.option.markexpr or any("::" in argument for argument in config.args):
        return
    marked = [item for item in items if item.get_closest_marker("chaos")]
    items[:] = [item for item in items if not item.get_closest_marker("chaos")]
    config.stash[left_out] = len(marked)
    config.hook.pytest_deselected(items=marked)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print what came of the days that were played, and say loudly what was left out."""
    if figures := config.stash.get(chaos_table, None):
        terminalreporter.write_sep("-", "chaos")
        console = Console(width=110, highlight=False)
        with console.capture() as shown:
            console.print(table(figures))
        terminalreporter.write_line(shown.get())
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    told = [
        text
        for report in reports
        if report.when == "call"
        for name, text in report.user_properties
        if name == IN_TIME
    ]
    if told:
        terminalreporter.write_sep("-", "tries in time")
        for text in told:
            terminalreporter.write_line(str(text))
    if count := config.stash.get(left_out, 0):
        line = f"NOT RUN: {count} more bad days of coordinators and stores; `make chaos` runs them."
        terminalreporter.write_line(line, red=True, bold=True)
