"""Extras: the command that installs a missing one, for the way in which Drumbeat was installed.

`pip install 'drumbeat[postgres]'` works only for a package that came from an index. One that came
from a clone, a built wheel or a Git repository is named by where it came from, which installers
record in `direct_url.json` (PEP 610).
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PACKAGE = "drumbeat"
FILE = "file"


def install_command(extra: str) -> str:
    """The command that adds the extra to this installation: `pip install 'drumbeat[postgres]'`."""
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 - slow, and only for an error

    try:
        recorded = distribution(PACKAGE).read_text("direct_url.json")
    except PackageNotFoundError:
        return _from_a_clone(extra)
    return command_for(extra, json.loads(recorded) if recorded else None)


def command_for(extra: str, origin: Mapping[str, Any] | None) -> str:
    """The command for a package with that `direct_url.json`; None: it came from an index."""
    if origin is None:
        return f"pip install {shlex.quote(f'{PACKAGE}[{extra}]')}"
    url: str = origin["url"]
    if urlsplit(url).scheme == FILE:
        from urllib.request import url2pathname  # noqa: PLC0415 - as above

        return _from_a_path(extra, Path(url2pathname(urlsplit(url).path)), origin)
    if "vcs_info" in origin:
        vcs = origin["vcs_info"]
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    if "subdirectory" in origin:
        url += f"#subdirectory={origin['subdirectory']}"
    return f"pip install {shlex.quote(f'{PACKAGE}[{extra}] @ {url}')}"


def _from_a_path(extra: str, path: Path, origin: Mapping[str, Any]) -> str:
    if not path.exists():  # a clone or a wheel that was removed after the installation
        return _from_a_clone(extra)
    editable = "-e " if origin.get("dir_info", {}).get("editable") else ""
    return f"pip install {editable}{shlex.quote(f'{path}[{extra}]')}"


def _from_a_clone(extra: str) -> str:
    return f"pip install '.[{extra}]' in a clone of Drumbeat"
