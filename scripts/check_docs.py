#!/usr/bin/env python3
"""Check the docs: every relative link resolves, and every Python example compiles.

Usage: check_docs.py [ROOT]. Prints the counts, and each fault with its file and line.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
CODE = re.compile(r"`[^`]*`")
FENCE = re.compile(r"^\s*(```+|~~~+)\s*(\w*)")
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$")
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


@dataclass(frozen=True)
class Example:
    """A fenced block of code."""

    line: int
    language: str
    code: str


@dataclass
class Page:
    """A Markdown file, read once."""

    path: Path
    links: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    anchors: set[str] = field(default_factory=set[str])
    examples: list[Example] = field(default_factory=list[Example])


def pages(root: Path) -> list[Path]:
    """The Markdown files at the top and everything under docs/ and examples/."""
    below = (path for folder in ("docs", "examples") for path in (root / folder).rglob("*.md"))
    return sorted([*root.glob("*.md"), *below])


def read(path: Path) -> Page:
    """Parse a page into links, anchors and examples."""
    page = Page(path)
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    for number, line in lines:
        if fence := FENCE.match(line):
            code = "\n".join(_until(fence[1], lines))
            page.examples.append(Example(number, fence[2].lower(), code))
            continue
        if heading := HEADING.match(line):
            page.anchors.add(_free(_slug(heading[1]), page.anchors))
        page.links += [(number, target) for target in LINK.findall(CODE.sub("", line))]
    return page


def faults(page: Page, known: dict[Path, Page]) -> Iterator[str]:
    """Each link that does not resolve, and each Python example that does not compile."""
    for line, target in page.links:
        if not ELSEWHERE.match(target) and not _resolves(page, target, known):
            yield f"{page.path}:{line}: the link {target} does not resolve"
    for example in page.examples:
        if example.language in ("python", "py") and (problem := _broken(example.code)):
            yield f"{page.path}:{example.line}: the example does not compile: {problem}"


def _until(mark: str, lines: Iterator[tuple[int, str]]) -> Iterator[str]:
    for _, line in lines:
        if line.strip().startswith(mark):
            return
        yield line


def _slug(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _free(slug: str, taken: set[str]) -> str:
    names = (slug if count == 0 else f"{slug}-{count}" for count in range(len(taken) + 1))
    return next(name for name in names if name not in taken)


def _resolves(page: Page, target: str, known: dict[Path, Page]) -> bool:
    name, _, anchor = target.partition("#")
    path = (page.path.parent / name).resolve() if name else page.path
    if not path.exists():
        return False
    return not anchor or path not in known or anchor in known[path].anchors


def _broken(code: str) -> str | None:
    try:
        compile(textwrap.dedent(code), "<example>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    return None


def main(root: Path) -> int:
    """Check all pages under the root; 0 if there is no fault."""
    known = {path: read(path) for path in pages(root)}
    found = [fault for page in known.values() for fault in faults(page, known)]
    links = sum(len(page.links) for page in known.values())
    examples = sum(
        example.language in ("python", "py") for page in known.values() for example in page.examples
    )
    for fault in found:
        sys.stderr.write(f"{fault}\n")
    sys.stdout.write(
        f"checked {len(known)} pages, {links} links, {examples} Python examples: "
        f"{len(found)} at fault\n"
    )
    return 1 if found or not known else 0


if __name__ == "__main__":
    given = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]
    sys.exit(main(Path(given).resolve()))
