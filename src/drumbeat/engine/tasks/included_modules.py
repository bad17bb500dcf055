"""Included modules: imports the modules of an app that declare its tasks."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from drumbeat.model.errors import ConfigurationError


class IncludedModules:
    """The modules that an app has yet to import."""

    def __init__(self, names: Sequence[str] = ()) -> None:
        if isinstance(names, str):
            raise ConfigurationError(f"include must be a list of modules, such as [{names!r}]")
        self._names = [*names]
        self._packages: list[tuple[str, str]] = []

    def add(self, names: Sequence[str]) -> None:
        self._names += names

    def search(self, package: str, named: str) -> None:
        """Import all modules of that name in the package, too."""
        self._packages.append((package, named))

    def load(self) -> None:
        """Import what was not imported yet. What fails is tried again by the next call."""
        names, packages = [*self._names], [*self._packages]
        self._names.clear()
        self._packages.clear()
        try:
            for name in names:
                _load(name, f"module {name!r} of include")
            for package, named in packages:
                for name in found_in(package, named):
                    _load(name, f"module {name!r} of {package!r}")
        except BaseException:
            self._names[:0] = names
            self._packages[:0] = packages
            raise


def found_in(package: str, named: str) -> Sequence[str]:
    """The modules of that name in a package, at any depth; of a package of that name, all modules.

    Tests are left out.
    """
    found = [
        ".".join((package, *parts))
        for folder in _folders(package)
        for path in sorted(folder.rglob("*.py"))
        if named in (parts := tuple(_parts(path.relative_to(folder)))) and _is_imported(parts)
    ]
    if not found:
        raise ConfigurationError(
            f"autodiscover found no module named {named!r} in the package {package!r}"
        )
    return found


def _folders(package: str) -> Sequence[Path]:
    try:
        spec = find_spec(package)
    except Exception as error:
        raise _failed(f"package {package!r} of autodiscover", error) from error
    if spec is None or spec.submodule_search_locations is None:
        what = "there is no such package" if spec is None else "it is a module and not a package"
        raise ConfigurationError(f"autodiscover cannot search {package!r}: {what}")
    return [Path(folder) for folder in spec.submodule_search_locations]


def _parts(path: Path) -> Iterator[str]:
    yield from path.parts[:-1]
    if path.stem != "__init__":
        yield path.stem


def _is_imported(parts: Sequence[str]) -> bool:
    return all(
        part.isidentifier() and part != "tests" and not part.startswith("test_") for part in parts
    )


def _load(name: str, what: str) -> None:
    try:
        import_module(name)
    except Exception as error:
        raise _failed(what, error) from error


def _failed(what: str, error: Exception) -> ConfigurationError:
    cause = traceback.format_exception_only(error)[-1].strip()
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith("<") and frame.filename not in (__file__, _IMPORTLIB)
    ]
    place = f", at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return ConfigurationError(f"{what} cannot be imported: {cause}{place}")


_IMPORTLIB = import_module("importlib").__file__
