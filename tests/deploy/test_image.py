"""The Dockerfile names what the repository has, and the script that builds says how it ended."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from .product import ROOT, example_app, parse, settings_from

SCRIPT = ROOT / "scripts" / "image"
IGNORED = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()


@dataclass
class Stage:
    """One stage of the Dockerfile: its instructions, each a word and its argument."""

    base: str
    name: str
    steps: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def of(self, word: str) -> list[str]:
        return [argument for step, argument in self.steps if step == word]


def stages() -> dict[str, Stage]:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    found: list[Stage] = []
    for line in text.splitlines():
        word, _, argument = line.strip().partition(" ")
        if word == "FROM":
            base, _, name = argument.partition(" AS ")
            found.append(Stage(base, name))
        elif word and found:
            found[-1].steps.append((word, argument))
    return {stage.name: stage for stage in found}


RUNTIME = stages()["runtime"]


def test_the_stages_are_those_that_the_script_builds() -> None:
    assert list(stages()) == ["build", "runtime", "example"]
    assert set(re.findall(r"^    (\w+)\) tag=", SCRIPT.read_text(), re.MULTILINE)) == {
        "runtime",
        "example",
    }
    assert stages()["example"].base == "runtime"
    assert RUNTIME.base == stages()["build"].base, "the environment is built for this Python"


def test_everything_that_is_copied_exists_and_is_sent_to_the_builder() -> None:
    for stage in stages().values():
        for copied in stage.of("COPY"):
            *sources, _ = (word for word in copied.split() if not word.startswith("--chown"))
            if sources[0].startswith("--from="):
                assert sources[0].removeprefix("--from=") in stages()
                continue
            for source in sources:
                assert (ROOT / source).exists()
                kept = [rule[1:] for rule in IGNORED if rule.startswith("!")]
                assert any(source == rule or source.startswith(f"{rule}/") for rule in kept)
    assert "*" in IGNORED


def test_it_installs_the_locked_packages_with_extras_that_exist() -> None:
    (command,) = (step for step in stages()["build"].of("RUN") if "uv sync" in step)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = set(re.findall(r"--extra (\S+)", command))
    assert extras <= project["project"]["optional-dependencies"].keys()
    assert {"postgres", "redis", "etcd", "consul", "api"} <= extras
    assert {"--locked", "--no-default-groups", "--no-editable"} <= set(command.split())


def test_the_final_image_has_no_build_tools_and_no_root() -> None:
    assert [step for step in RUNTIME.of("RUN") if re.search(r"pip install|apt-get|uv ", step)] == []
    assert any("pip uninstall" in step for step in RUNTIME.of("RUN"))
    (user,) = RUNTIME.of("USER")
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", user), "Kubernetes wants numbers"
    assert not stages()["example"].of("USER")


def test_its_health_is_checked_by_a_command_that_exists_wherever_a_node_listens() -> None:
    (check,) = RUNTIME.of("HEALTHCHECK")
    options, _, command = check.partition("CMD ")
    program, *arguments = json.loads(command)
    assert program == "drumbeat"
    assert RUNTIME.of("ENTRYPOINT") == ['["drumbeat"]']
    context = parse(arguments)
    assert context.params["kind"] == "live", "a store that is away must restart nothing"
    timeout = re.search(r"--timeout=(\d+)s", options)
    assert timeout
    assert context.params["timeout"] < float(timeout[1])
    own = ("PATH=", "PYTHON")
    variables = dict(
        word.split("=", 1)
        for step in RUNTIME.of("ENV")
        for word in step.split()
        if not word.startswith(own)
    )
    config = settings_from(variables)
    assert config.http_addr.startswith("127.0.0.1:")
    assert (config.worker_http_addr or "").startswith("127.0.0.1:")


def test_the_example_runs_an_app_that_exists() -> None:
    (command,) = stages()["example"].of("CMD")
    assert parse(json.loads(command)).params["path"] == "jobs:app"
    assert "work" in example_app().tasks


def built(folder: Path, engine: str | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the script with this engine as the only one."""
    if engine is not None:
        path = folder / "docker"
        path.write_text(f"#!/bin/sh\n{engine}\n", encoding="utf-8")
        path.chmod(0o755)
    for tool in ("dirname", "sh"):
        (folder / tool).symlink_to(f"/usr/bin/{tool}")
    return subprocess.run(
        ["/bin/sh", str(SCRIPT), *arguments],
        env={"PATH": str(folder), "LANG": os.environ.get("LANG", "C")},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("engine", "arguments", "code", "output"),
    [
        ("exit 0", (), 0, "drumbeat\n"),
        ("exit 0", ("example",), 0, "drumbeat-example\n"),
        ("exit 0", ("runtime", "registry.example/jobs:7"), 0, "registry.example/jobs:7\n"),
        ('test "$1" = info', (), 1, ""),
        ("exit 0", ("nonsense",), 2, ""),
        ("exit 0", ("runtime", "tag", "more"), 2, ""),
        ("exit 1", (), 3, ""),
        (None, (), 3, ""),
    ],
)
def test_the_exit_code_says_how_the_build_ended(
    tmp_path: Path, engine: str | None, arguments: tuple[str, ...], code: int, output: str
) -> None:
    done = built(tmp_path, engine, *arguments)
    assert (done.returncode, done.stdout) == (code, output)
    assert bool(done.stderr) == (code != 0)


def test_the_engine_is_asked_to_build_the_stage_from_the_repository(tmp_path: Path) -> None:
    record = tmp_path / "asked"
    built(tmp_path, f'echo "$@" >> {record}', "example", "jobs:1")
    assert record.read_text().splitlines() == [
        "info",
        f"build --target example --tag jobs:1 {ROOT}",
    ]
