"""Lazy names: a package imports each of its names from its module when it is first asked for."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def lazy_names(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """The `__getattr__` of a package that has these names in these of its modules."""
    module_of = {name: module for module, names in modules.items() for name in names}

    def find(name: str) -> object:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found: object = getattr(import_module(f"{package}.{module_of[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    return find
