"""What `from drumbeat import Drumbeat` costs a process, with its bytecode already compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from statistics import median
from tempfile import TemporaryDirectory

TITLE = "Importing Drumbeat"
PROGRAM = """
import time
begun = time.process_time()
from drumbeat import Drumbeat
imported = time.process_time()
Drumbeat("memory://", environment={})
made = time.process_time()
import sys
print((imported - begun) * 1000, (made - imported) * 1000, len(sys.modules))
"""


def run(*, quick: bool) -> dict[str, object]:
    with TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        _measured(environment)
        runs = [_measured(environment) for _ in range(3 if quick else 15)]
    return {
        "CPU of the import, ms (median)": round(median(each[0] for each in runs), 1),
        "CPU of an app in memory, ms (median)": round(median(each[1] for each in runs), 1),
        "modules": int(runs[0][2]),
    }


def _measured(environment: dict[str, str]) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, check=True
    )
    return [float(figure) for figure in done.stdout.split()]
