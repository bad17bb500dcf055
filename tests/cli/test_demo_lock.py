"""The demo does not pause a process while it keeps everybody from writing."""

import sqlite3
from contextlib import closing
from pathlib import Path

from drumbeat.demo.file_lock import is_stuck


def test_a_file_is_stuck_for_as_long_as_somebody_holds_its_lock(tmp_path: Path) -> None:
    path = tmp_path / "demo.db"
    address = f"sqlite:///{path}"
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        assert not is_stuck(address)
        holder.execute("BEGIN IMMEDIATE")
        assert is_stuck(address)
        holder.execute("ROLLBACK")
        assert not is_stuck(address)


def test_of_a_server_it_is_never_said() -> None:
    assert not is_stuck("postgresql://localhost/demo")
