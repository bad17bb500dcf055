"""The links of the docs resolve and their examples compile."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def check_docs(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "check_docs.py"), str(root)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_docs_have_no_fault() -> None:
    done = check_docs(ROOT)
    assert done.returncode == 0, done.stderr


def test_the_index_links_every_page() -> None:
    docs = ROOT / "docs"
    linked = set(re.findall(r"\]\(([^)#]+\.md)", (docs / "index.md").read_text(encoding="utf-8")))
    pages = {str(path.relative_to(docs)) for path in docs.rglob("*.md")} - {"index.md"}
    assert pages
    assert sorted(pages - linked) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("see\n[that](docs/gone.md)", "README.md:2: the link docs/gone.md does not resolve"),
        ("[that](#gone)", "README.md:1: the link #gone does not resolve"),
        ("[that](docs/other.md#gone)", "README.md:1: the link docs/other.md#gone does not resolve"),
        ("```python\nif:\n```", "README.md:1: the example does not compile: line 1"),
    ],
)
def test_a_fault_is_reported_with_its_line(tmp_path: Path, text: str, fault: str) -> None:
    written(tmp_path, text)
    done = check_docs(tmp_path)
    assert done.returncode == 1
    assert fault in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "[that](docs/other.md#the-job-and-its-hold)",
        "# Here\n[that](#here)",
        "[that](https://example.org/gone)",
        "`[not](a-link)`",
        "```python\nawait job.wait()\n```",
        "```\nif: [not](a-link)\n```",
    ],
)
def test_valid_links_and_examples_pass(tmp_path: Path, text: str) -> None:
    written(tmp_path, text)
    done = check_docs(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_docs_without_a_page_are_a_fault(tmp_path: Path) -> None:
    assert check_docs(tmp_path).returncode == 1


def written(root: Path, text: str) -> None:
    (root / "docs").mkdir()
    (root / "docs" / "other.md").write_text("## The `job`, and its hold\n", encoding="utf-8")
    (root / "README.md").write_text(text, encoding="utf-8")
