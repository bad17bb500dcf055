"""Enum members have plain values, so that they are the same on every supported Python.

Python 3.11.2, which Debian 12 has, replaces the value `()` by a bare `object()`. The meaning of
functions, partials and nested classes also depends on the version. Strings and integers are safe.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = ("src", "tests", "bench", "chaos", "mutants", "scripts", "servers", "simulation", "examples")


def name_of(base: ast.expr) -> str:
    match base:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def enums(source: str) -> Iterator[ast.ClassDef]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef) and any(
            name_of(base).endswith(("Enum", "Flag")) for base in node.bases
        ):
            yield node


def is_plain(value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=str() | int()) | ast.Call(func=ast.Name(id="auto")):
            return not (isinstance(value, ast.Constant) and isinstance(value.value, bool))
        case ast.UnaryOp(operand=operand):
            return is_plain(operand)
        case ast.BinOp(left=left, right=right):  # flags such as `1 << 3`
            return is_plain(left) and is_plain(right)
        case _:
            return False


def faults(source: str) -> list[str]:
    """Each member whose value is neither a string nor an integer."""
    return [
        f"{kind.name}.{name_of(statement.targets[0])}"
        for kind in enums(source)
        for statement in kind.body
        if isinstance(statement, ast.Assign) and not is_plain(statement.value)
        if not name_of(statement.targets[0]).startswith("_")
    ]


def test_every_member_of_an_enum_is_a_string_or_an_integer() -> None:
    sources = {
        path.relative_to(ROOT): path.read_text(encoding="utf-8")
        for folder in CODE
        for path in sorted((ROOT / folder).rglob("*.py"))
    }

    assert sum(1 for source in sources.values() for _ in enums(source)) > 20  # it finds enums
    assert [f"{path}: {fault}" for path, source in sources.items() for fault in faults(source)] == (
        []
    )


def test_the_check_sees_unsafe_values_and_allows_safe_ones() -> None:
    source = """
class Safe(StrEnum):
    '''A docstring.'''
    _ignore_ = ["other"]
    A = "a"
    B = auto()
    def method(self): pass

class Numbers(enum.IntFlag):
    ONE = 1 << 0
    LESS = -1

class Unsafe(enum.Enum):
    EMPTY = ()
    PAIR = ("a", "b")
    OBJECT = object()
    FUNCTION = lambda: 1
    NOTHING = None
"""
    assert faults(source) == [
        "Unsafe.EMPTY",
        "Unsafe.PAIR",
        "Unsafe.OBJECT",
        "Unsafe.FUNCTION",
        "Unsafe.NOTHING",
    ]
