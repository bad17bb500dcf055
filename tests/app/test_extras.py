"""The command for a missing extra works for the way in which Drumbeat was installed."""

from pathlib import Path
from typing import Any

import pytest

from drumbeat.extras import command_for, install_command

WHEEL = "drumbeat-0.1.0-py3-none-any.whl"


def test_a_package_from_an_index_is_named() -> None:
    assert command_for("postgres", None) == "pip install 'drumbeat[postgres]'"


def test_a_clone_is_named_by_its_folder(tmp_path: Path) -> None:
    clone = tmp_path / "my clone"
    clone.mkdir()
    origin: dict[str, Any] = {"url": clone.as_uri(), "dir_info": {}}
    assert command_for("redis", origin) == f"pip install '{clone}[redis]'"
    origin = {"url": clone.as_uri(), "dir_info": {"editable": True}}
    assert command_for("redis", origin) == f"pip install -e '{clone}[redis]'"


def test_a_wheel_is_named_by_its_file(tmp_path: Path) -> None:
    wheel = tmp_path / WHEEL
    wheel.touch()
    origin: dict[str, Any] = {"url": wheel.as_uri(), "archive_info": {}}
    assert command_for("api", origin) == f"pip install '{wheel}[api]'"


def test_a_path_that_is_gone_is_not_printed(tmp_path: Path) -> None:
    origin: dict[str, Any] = {"url": (tmp_path / WHEEL).as_uri(), "archive_info": {}}
    assert command_for("api", origin) == "pip install '.[api]' in a clone of Drumbeat"


@pytest.mark.parametrize(
    ("origin", "source"),
    [
        (
            {
                "url": "https://example.org/drumbeat.git",
                "vcs_info": {"vcs": "git", "commit_id": "abc123"},
            },
            "git+https://example.org/drumbeat.git@abc123",
        ),
        (
            {
                "url": "https://example.org/all.git",
                "vcs_info": {"vcs": "git", "commit_id": "abc123"},
                "subdirectory": "drumbeat",
            },
            "git+https://example.org/all.git@abc123#subdirectory=drumbeat",
        ),
        (
            {"url": f"https://example.org/{WHEEL}", "archive_info": {}},
            f"https://example.org/{WHEEL}",
        ),
    ],
    ids=["a repository", "a folder of a repository", "an archive"],
)
def test_what_came_from_elsewhere_is_named_by_its_url(origin: dict[str, Any], source: str) -> None:
    assert command_for("otel", origin) == f"pip install 'drumbeat[otel] @ {source}'"


def test_this_installation_is_the_clone_that_is_tested() -> None:
    clone = Path(__file__).parents[2]
    assert install_command("etcd") == f"pip install -e '{clone}[etcd]'"
