"""A data folder that `initdb` creates once and servers copy."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from servers.postgres_programs import Programs
from servers.reaper import reaper


@cache
def template_of(programs: Programs, user: str | None) -> Path:
    """The template of that version, which is removed when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix="drumbeat-template-"))
    reaper.watch_folder(folder)
    if user is not None:
        shutil.chown(folder, user, user)
    data = folder / "data"
    subprocess.run(
        [
            programs.folder / "initdb",
            f"--pgdata={data}",
            "--username=postgres",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
            "--no-sync",  # the template need not be durable
        ],
        check=True,
        capture_output=True,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
        cwd=folder,
    )
    return data
