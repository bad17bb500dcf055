"""No regular expression of the package takes more than linear time on any text.

Texts such as errors, names and addresses are untrusted. Backtracking through two repeats of the
same characters takes quadratic or cubic time, on the event loop. So a matcher that counts its steps
runs each expression over texts of the expression's own characters and words, in two lengths. A text
of four times the length may take four times the steps, and not sixteen.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest

codes: Any = importlib.import_module("re._constants")
parser: Any = importlib.import_module("re._parser")
"""The library's own parser; it has no public one."""

PACKAGE = Path(__file__).parents[2] / "src" / "drumbeat"
SHORT, TIMES = 12, 4
SLACK = 1_000
"""Steps that do not depend on the length of the text."""
ANCHORED = {"match", "fullmatch"}
FUNCTIONS = {"search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"}
REPEATS = {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}
CHARACTERS = {codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN}
MEMBERS: dict[Any, Callable[[str], bool]] = {
    codes.CATEGORY_DIGIT: str.isdecimal,
    codes.CATEGORY_SPACE: str.isspace,
    codes.CATEGORY_WORD: lambda each: each.isalnum() or each == "_",
    codes.CATEGORY_NOT_DIGIT: lambda each: not each.isdecimal(),
    codes.CATEGORY_NOT_SPACE: lambda each: not each.isspace(),
    codes.CATEGORY_NOT_WORD: lambda each: not (each.isalnum() or each == "_"),
}
SAMPLES = "aA1 _-.:/@=,'\"`\n~(){}+?é\0"


@dataclass(frozen=True)
class Regex:
    """An expression, and whether it matches only at the beginning of the text."""

    where: str
    pattern: str
    flags: int
    anchored: bool


class TooManySteps(Exception):
    """The matcher exceeded its steps."""


class Matcher:
    """Matches like `re`, by backtracking, and counts the characters that it checks."""

    def __init__(self, regex: Regex, text: str, most: float) -> None:
        self.steps = 0
        self._text = text
        self._most = most
        self._lower = bool(regex.flags & re.IGNORECASE)

    def run(self, tree: Sequence[Any], anchored: bool) -> int:
        """The steps of one attempt, or of finding all matches one after the other."""
        place = 0
        while place <= len(self._text):
            end = next(self.sequence(tree, 0, place), None)
            if anchored:
                break
            place = place + 1 if end is None or end == place else end
        return self.steps

    def sequence(self, items: Sequence[Any], index: int, place: int) -> Iterator[int]:
        """The possible ends of a match from this place, in the order of the library."""
        if index == len(items):
            yield place
            return
        for end in self._one(items[index], place):
            yield from self.sequence(items, index + 1, end)

    def _one(self, item: Any, place: int) -> Iterator[int]:
        code, what = item
        if code in CHARACTERS:
            if self._is(item, place):
                yield place + 1
        elif code in REPEATS:
            yield from self._repeat(code, what, place)
        elif code is codes.SUBPATTERN:
            yield from self.sequence(what[3], 0, place)
        elif code is codes.BRANCH:
            for branch in what[1]:
                yield from self.sequence(branch, 0, place)
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            yield from self._look(code, what, place)
        elif code is codes.AT:
            yield from self._at(what, place)
        else:
            raise NotImplementedError(f"the matcher does not support {code}")

    def _repeat(self, code: Any, what: Any, place: int) -> Iterator[int]:
        least, most, body = what
        if len(body) == 1 and body[0][0] in CHARACTERS:
            yield from self._run(code, (least, most, body[0]), place)
            return
        yield from self._again(code, (least, most, body), place, 0)

    def _run(self, code: Any, what: Any, place: int) -> Iterator[int]:
        """A repeat of single characters, without recursion."""
        least, most, body = what
        end = place
        if code is codes.MIN_REPEAT:
            while end - place < least:
                if not self._is(body, end):
                    return
                end += 1
            yield end
            while end - place < most and self._is(body, end):
                end += 1
                yield end
            return
        while end - place < most and self._is(body, end):
            end += 1
        lowest = end if code is codes.POSSESSIVE_REPEAT else place + least
        yield from range(end, lowest - 1, -1)

    def _again(self, code: Any, what: Any, place: int, done: int) -> Iterator[int]:
        least, most, body = what
        if code is codes.MIN_REPEAT and done >= least:
            yield place
        if done < most:
            for end in self.sequence(body, 0, place):
                if end > place or done < least:
                    yield from self._again(code, what, end, done + 1)
        if code is not codes.MIN_REPEAT and done >= least:
            yield place

    def _look(self, code: Any, what: Any, place: int) -> Iterator[int]:
        direction, body = what
        if direction < 0:  # all lookbehinds of the package are one character long
            found = place > 0 and next(self.sequence(body, 0, place - 1), None) == place
        else:
            found = next(self.sequence(body, 0, place), None) is not None
        if found is (code is codes.ASSERT):
            yield place

    def _at(self, what: Any, place: int) -> Iterator[int]:
        self._count()
        text, word = self._text, MEMBERS[codes.CATEGORY_WORD]
        before, after = text[place - 1 : place] if place else "", text[place : place + 1]
        edge = bool(before and word(before)) is not bool(after and word(after))
        holds = {
            codes.AT_BEGINNING: place == 0 or before == "\n",
            codes.AT_BEGINNING_STRING: place == 0,
            codes.AT_END: after in ("", "\n"),
            codes.AT_END_STRING: after == "",
            codes.AT_BOUNDARY: edge,
            codes.AT_NON_BOUNDARY: not edge,
        }[what]
        if holds:
            yield place

    def _is(self, item: Any, place: int) -> bool:
        self._count()
        code, what = item
        return place < len(self._text) and is_member(code, what, self._text[place], self._lower)

    def _count(self) -> None:
        self.steps += 1
        if self.steps > self._most:
            raise TooManySteps


def is_member(code: Any, what: Any, each: str, lower: bool) -> bool:
    """Whether the code matches the character."""
    if code in (codes.LITERAL, codes.NOT_LITERAL):
        same = each.lower() == chr(what).lower() if lower else each == chr(what)
        return same is (code is codes.LITERAL)
    if code is codes.ANY:
        return each != "\n"
    if code is codes.RANGE:
        return bool(what[0] <= ord(each) <= what[1])
    if code is codes.CATEGORY:
        return MEMBERS[what](each)
    negated = what[0][0] is codes.NEGATE
    found = any(is_member(kind, item, each, lower) for kind, item in what[negated:])
    return found is not negated


def units(tree: Sequence[Any]) -> Iterator[str]:
    """The words of an expression, and a character for each set of characters in it."""
    word = ""
    for code, what in tree:
        if code is codes.LITERAL:
            word += chr(what)
        if code is not codes.LITERAL and word:
            yield word
            word = ""
        if code in CHARACTERS and code is not codes.LITERAL:
            yield next(each for each in SAMPLES if is_member(code, what, each, lower=False))
        for inner in bodies(code, what):
            yield from units(inner)
    if word:
        yield word


def bodies(code: Any, what: Any) -> Sequence[Sequence[Any]]:
    """The expressions within an expression."""
    if code is codes.BRANCH:
        branches: Sequence[Sequence[Any]] = what[1]
        return branches
    place = {codes.SUBPATTERN: 3, codes.ASSERT: 1, codes.ASSERT_NOT: 1}.get(code)
    if code in REPEATS:
        place = 2
    return () if place is None else (what[place],)


def hard_texts(tree: Sequence[Any], times: int) -> Iterator[str]:
    """Repeated words, and repeated pairs of words, alternating and one after the other."""
    words = list(dict.fromkeys([*units(tree), "a"]))
    for first, second in product(words, words):
        yield (first + second) * times
        yield first * times + second * times
        yield (first + second) * times + "\0"


def worst(regex: Regex) -> str | None:
    """A text that takes more than linear time; None if there is none."""
    tree = list(parser.parse(regex.pattern, regex.flags & re.IGNORECASE))
    short, long = hard_texts(tree, SHORT), hard_texts(tree, SHORT * TIMES)
    for brief, text in zip(short, long, strict=True):
        try:
            steps = Matcher(regex, brief, 1_000_000).run(tree, regex.anchored)
            Matcher(regex, text, (TIMES + 1) * steps + SLACK).run(tree, regex.anchored)
        except TooManySteps:
            return text
    return None


def regexes() -> Iterator[Regex]:
    """Every expression that the package compiles, uses directly, or checks fields with."""
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text()
        if "re." not in source and "pattern=" not in source:
            continue
        tree = ast.parse(source)
        compiled: dict[str, set[str]] = {}
        for statement in tree.body:
            match statement:
                case ast.Assign(
                    targets=[ast.Name(id=name)],
                    value=ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr="compile")),
                ):
                    compiled[name] = set()
                case _:
                    pass
        where = str(path.relative_to(PACKAGE))
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(value=ast.Name(id=name), attr=method) if name in compiled:
                    compiled[name].add(method)
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="re"), attr=function), args=[first, *_]
                ) if function in FUNCTIONS:
                    assert isinstance(first, ast.Constant), f"{where}: compile it in the module"
                    assert isinstance(first.value, str)
                    spot = f"{where}:{node.lineno}"
                    yield Regex(spot, first.value, 0, function in ANCHORED)
                case ast.keyword(arg="pattern", value=value):
                    assert isinstance(value, ast.Name), f"{where}: give the pattern a name"
                    named: str = getattr(module_at(path), value.id)
                    yield Regex(f"{where}:{value.id}", named, 0, anchored=False)
                case _:
                    pass
        calls = source.count("re.compile(")
        assert calls == len(compiled), f"{where}: compile regular expressions in the module only"
        for name, methods in compiled.items():
            pattern: re.Pattern[str] = getattr(module_at(path), name)
            anchored = bool(methods) and methods - {"pattern"} <= ANCHORED
            yield Regex(f"{where}:{name}", pattern.pattern, pattern.flags, anchored)


def module_at(path: Path) -> Any:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return importlib.import_module(".".join(part for part in parts if part != "__init__"))


@pytest.fixture(autouse=True)
def _deep_texts() -> Iterator[None]:
    """Let the matcher nest as deeply as its texts are long."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize("regex", list(regexes()), ids=lambda regex: regex.where)
def test_an_expression_takes_linear_time(regex: Regex) -> None:
    text = worst(regex)
    assert text is None, f"{regex.pattern!r} takes more than linear time over {text[:60]!r}..."


@pytest.mark.parametrize(
    "pattern",
    [
        r"[\w-]*(?:password|token)[\w-]*\s*=\s*",
        r"(?:[\w+.-]+://)?[^:@/]*:.*(?=@)",
        r"(?:a+)+b",
        r"\s*\s*x",
        r"\w+\s*=",
    ],
)
def test_the_check_finds_slow_expressions(pattern: str) -> None:
    assert worst(Regex("here", pattern, 0, anchored=False)) is not None


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(a|ab)(c|bcd)*(d*)", "abcd"),
        (r"\bx(?=y)\w+?z?", "axy xyyz"),
        (r"(?: *([0-9]+) *(ms|s))+ *", "1s 2 ms  3s "),
        (r"^\S+$", "ab"),
    ],
)
def test_the_matcher_matches_what_the_library_matches(pattern: str, text: str) -> None:
    tree = list(parser.parse(pattern))
    for place in range(len(text) + 1):
        matcher = Matcher(Regex("here", pattern, 0, anchored=True), text, 10_000)
        ours = next(matcher.sequence(tree, 0, place), None)
        theirs = re.compile(pattern).match(text, place)
        assert ours == (theirs.end() if theirs else None)
