"""A server does not outlive the process that started it, and its folder is removed."""

import subprocess
import sys
from pathlib import Path

import pytest

from servers import Postgres, processes

ROOT = Path(__file__).parents[2]

OWNER = """
import os, signal, socket
from servers import Postgres

server = Postgres.start()
print(server.folder, server.pid, flush=True)
{then}
"""

KILLED = "os.kill(os.getpid(), signal.SIGKILL)"
CHILD_LEFT = f"""
if os.fork():
    {KILLED}
os.close(1), os.close(2)
socket.create_connection(("127.0.0.1", server.port)).recv(1)  # until the server ends
os._exit(0)
"""


@pytest.mark.parametrize(
    "then",
    [
        KILLED,
        f"server.pause(); {KILLED}",
        CHILD_LEFT,
        "pass",
    ],
    ids=["killed", "killed while the server was paused", "killed with a child left", "ended"],
)
def test_a_server_ends_with_its_owner(postgres: Postgres, then: str) -> None:
    # The reaper inherits the owner's stderr, which ends when the reaper has finished.
    owner = subprocess.run(
        [sys.executable, "-c", OWNER.format(then=then)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    folder, pid = owner.stdout.split()
    assert owner.stderr == ""
    assert processes.is_gone(int(pid))
    assert not Path(folder).exists()
