"""App paths: `package.module:name` becomes an app, or a sentence about what went wrong where."""

from __future__ import annotations

import importlib
import sys
import sysconfig
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType, TracebackType

from drumbeat.app import Drumbeat
from drumbeat.cli.exit_codes import Exit, Problem
from drumbeat.config import CommandLine, given_on_command_line
from drumbeat.model.errors import DrumbeatError

USUAL_NAME = "app"
ELSEWHERE = "(given by "
"""Marks a fault of a setting that does not stand in the app's own code."""


def load_app(path: str, given: CommandLine) -> Drumbeat:
    """The app at a path, made with what the command line gives.

    The working directory is searched first, as `python -m` does. Without a name, `app` is meant.
    """
    module_name, _, name = path.partition(":")
    parts = module_name.split(".")
    if not all(part.isidentifier() for part in parts) or parts[-1] == "py":
        raise Problem(
            f"{path!r} is not an app path; write MODULE:NAME, such as shop.jobs:app for the app in "
            f"shop/jobs.py",
            Exit.USAGE,
        )
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    with given_on_command_line(given):
        module = _import(module_name)
    found: object = module
    for part in (name or USUAL_NAME).split("."):
        found = getattr(found, part, None)
    if isinstance(found, Drumbeat):
        found.load_modules()
        return found
    raise Problem(_no_app(module_name, name or USUAL_NAME, found, vars(module)), Exit.USAGE)


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise Problem(
                f"no module is named {error.name!r} in {Path.cwd()} or on the Python path",
                Exit.USAGE,
            ) from error
        raise Problem(_broken(name, error), Exit.USAGE) from error
    except DrumbeatError as error:
        place = _place(error.__traceback__)
        lines = [
            line if ELSEWHERE in line else f"{line}{place}" for line in str(error).splitlines()
        ]
        raise Problem("\n".join(lines), Exit.USAGE) from error
    except Exception as error:
        raise Problem(_broken(name, error), Exit.USAGE) from error


def _broken(name: str, error: Exception) -> str:
    if isinstance(error, SyntaxError) and error.filename:
        return (
            f"module {name!r} cannot be read: {type(error).__name__}: {error.msg}, "
            f"at {error.filename}:{error.lineno}"
        )
    what = traceback.format_exception_only(error)[-1].strip()
    return f"module {name!r} cannot be imported: {what}{_place(error.__traceback__)}"


def _place(trace: TracebackType | None) -> str:
    """Where in the user's own code it went wrong: the last line that is not a library's."""
    frames = [frame for frame in traceback.extract_tb(trace) if not _in_library(frame.filename)]
    return f", at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def _in_library(file: str) -> bool:
    ours, pythons = str(Path(__file__).parents[2]), sysconfig.get_path("stdlib")
    if file.startswith((ours, "<")):  # "<frozen ...>" and generated code such as dataclasses
        return True
    return file.startswith(pythons) and "site-packages" not in file


def _no_app(module: str, name: str, found: object, names: Mapping[str, object]) -> str:
    apps = [each for each, value in names.items() if isinstance(value, Drumbeat)]
    hint = f"; it has {', '.join(f'{module}:{each}' for each in apps)}" if apps else ""
    if found is None:
        return f"module {module!r} has no {name!r}{hint}"
    return f"{module}:{name} is a {type(found).__name__}, not a Drumbeat app{hint}"
