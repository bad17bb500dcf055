"""Errors about missing servers and failed installations."""

import pytest

from servers import Missing, Postgres
from servers.__main__ import main
from servers.packages import PACKAGES, Package

NOWHERE = Package(name="nowhere", server="Nowhere 1", program="nowhere-server", debian=("nowhere",))


def find_nothing(program: str, path: str | None = None) -> None:
    """Replaces `shutil.which` on a machine without any program."""


def test_a_missing_server_says_how_to_install_it() -> None:
    with pytest.raises(Missing, match=r"^Nowhere 1 is missing: run `.* install nowhere`\.$"):
        NOWHERE.require()


def test_an_unknown_version_is_missing() -> None:
    with pytest.raises(Missing, match="PostgreSQL 7 is missing"):
        Postgres.start(version="7")


def test_the_status_names_every_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status"]) == 0
    printed = capsys.readouterr().out
    assert [name for name in PACKAGES if name not in printed] == []


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "postgras"]) == 2
    assert "Unknown: postgras. There are: postgres," in capsys.readouterr().err


@pytest.mark.parametrize(("needed", "code"), [(True, 1), (False, 0)])
def test_only_a_needed_package_makes_installing_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], needed: bool, code: int
) -> None:
    package = Package(
        name="nowhere",
        server="Nowhere 1",
        program="nowhere-server",
        debian=("nowhere",),
        needed=needed,
    )
    monkeypatch.setitem(PACKAGES, "nowhere", package)
    for name in [name for name in PACKAGES if name != "nowhere"]:
        monkeypatch.delitem(PACKAGES, name)
    monkeypatch.setattr("shutil.which", find_nothing)  # a machine without apt
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert main(["install"]) == code
    assert "NOT INSTALLED: Nowhere 1: this is not Debian" in capsys.readouterr().err
