"""A site that submits while it is loaded, before gunicorn forks. Run by `test_forks`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from typing import Any

from drumbeat import Drumbeat

app = Drumbeat(os.environ["SITE_STORE"], namespace=os.environ["SITE_NAMESPACE"], environment={})


@app.task
def place(order: int) -> int:
    return order


place.submit_sync(0)
LOADED_IN = os.getpid()


def site(environ: dict[str, Any], start_response: Callable[..., object]) -> Iterable[bytes]:
    """Submit the order that the path names; say which process did it, and where it was loaded."""
    job = place.submit_sync(int(environ["PATH_INFO"].strip("/")))
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps([job.id, os.getpid(), LOADED_IN]).encode()]
