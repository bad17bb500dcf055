"""`python -m mutants`: plant every bug of the catalogue and report those that the tests miss."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence

from mutants.mutant import Mutant, read_catalogue
from mutants.runner import Result, Verdict, run_all


def main(arguments: Sequence[str] | None = None) -> int:
    """Test the selected mutants; 1 if any was not caught."""
    parser = argparse.ArgumentParser(prog="python -m mutants", description=__doc__)
    parser.add_argument("words", nargs="*", help="only mutants whose name or file has such a word")
    parser.add_argument("--processes", type=int, default=2, help="mutants judged at the same time")
    parser.add_argument("--list", action="store_true", help="list the mutants, run nothing")
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text")
    asked = parser.parse_args(arguments)
    mutants = [mutant for mutant in read_catalogue() if _matches(mutant, asked.words)]
    if not mutants:
        parser.error("no mutant has any of these words in its name or its file")
    if asked.list:
        for mutant in mutants:
            print(f"{mutant.file}: {mutant.name}")
        return 0
    results = run_all(mutants, asked.processes, _report)
    counts = Counter(result.verdict for result in results)
    if asked.output == "json":
        print(json.dumps([_document(result) for result in results], indent=2))
    print(
        f"{len(results)} mutants: {counts[Verdict.CAUGHT]} caught, "
        f"{counts[Verdict.SURVIVED]} survived, {counts[Verdict.UNPROVEN]} unproven",
        file=sys.stderr,
    )
    return 0 if counts[Verdict.CAUGHT] == len(results) else 1


def _matches(mutant: Mutant, words: Sequence[str]) -> bool:
    text = f"{mutant.name} {mutant.file}".lower()
    return not words or any(word.lower() in text for word in words)


def _report(result: Result) -> None:
    mutant = result.mutant
    print(f"{result.verdict:9}{mutant.file}: {mutant.name}", file=sys.stderr)
    print(f"         {result.detail}", file=sys.stderr, flush=True)


def _document(result: Result) -> dict[str, str]:
    return {
        "file": result.mutant.file,
        "name": result.mutant.name,
        "verdict": result.verdict,
        "detail": result.detail,
    }


if __name__ == "__main__":
    sys.exit(main())
