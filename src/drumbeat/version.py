"""The version of this package."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def _installed() -> str:
    try:
        return version("drumbeat")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0+unknown"


VERSION = _installed()
