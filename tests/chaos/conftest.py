"""Which bad days are left out of a run, and that the end of the run says so."""

import pytest

left_out = pytest.StashKey[int]()


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
    """Say loudly what was left out."""
    if count := config.stash.get(left_out, 0):
        line = f"NOT RUN: {count} more bad days of coordinators and stores; `make chaos` runs them."
        terminalreporter.write_line(line, red=True, bold=True)
