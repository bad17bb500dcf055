"""docs/how-it-works.md names only files and code that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "drumbeat"
PAGE = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`([\w./-]+/|[\w./-]+\.(?:py|sql|lua|md|toml))`")
ROW = re.compile(r"^\|[^|]*\| `([\w./]+)` \| `([\w.]+)` \|$", re.MULTILINE)


def found(path: str) -> Path | None:
    places = (root / path for root in (PACKAGE, ROOT))
    return next((place for place in places if place.exists()), None)


def test_every_path_that_the_page_names_exists() -> None:
    named = set(NAMED.findall(PAGE))
    assert len(named) > 40
    assert sorted(path for path in named if found(path) is None) == []


def test_every_row_names_code_that_its_file_contains() -> None:
    rows = ROW.findall(PAGE)
    assert len(rows) > 30
    missing: list[str] = []
    for path, code in rows:
        place = found(path)
        text = place.read_text(encoding="utf-8") if place else ""
        if not all(re.search(rf"\b{word}\b", text) for word in code.split(".")):
            missing.append(f"{path}: {code}")
    assert missing == []
