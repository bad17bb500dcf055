"""The dashboard and the alerts speak only of metrics that there are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from drumbeat.telemetry.families import FAMILIES, Family, MetricKind
from drumbeat.telemetry.instruments import OUTCOMES

DEPLOY = Path(__file__).parents[2] / "deploy"
DASHBOARD: dict[str, Any] = json.loads((DEPLOY / "grafana.json").read_text(encoding="utf-8"))
RULES: dict[str, Any] = yaml.safe_load(
    (DEPLOY / "prometheus-rules.yaml").read_text(encoding="utf-8")
)
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
ALERTS = [rule for group in RULES["groups"] for rule in group["rules"]]

SAMPLES: dict[str, Family] = {
    f"{family.name}{ending}": family
    for family in FAMILIES
    for ending in (("_bucket", "_count", "_sum") if family.kind is MetricKind.HISTOGRAM else ("",))
}
"""Every name that a query may use."""
OF_PROMETHEUS = {"job", "instance", "le"}
"""Labels that Prometheus adds."""
UNITS = {"none", "s", "ops", "percentunit"}


def queries() -> Iterator[tuple[str, str]]:
    for panel in PANELS:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["name"], variable["query"]["query"]
    for rule in ALERTS:
        yield rule["alert"], rule["expr"]


QUERIES = [pytest.param(query, id=title) for title, query in queries()]


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_uses_metrics_and_labels_that_there_are(query: str) -> None:
    names = re.findall(r"\bdrumbeat_\w+", query)
    assert names
    assert [name for name in names if name not in SAMPLES] == []
    known = OF_PROMETHEUS.union(*(SAMPLES[name].labels for name in names))
    used = {
        label.strip()
        for group in re.findall(r"\bby \(([^)]*)\)", query)
        for label in group.split(",")
    } | set(re.findall(r"(\w+)=~?\"", query))
    assert used <= known


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_is_whole(query: str) -> None:
    for left, right in ("()", "{}", "[]"):
        assert query.count(left) == query.count(right)
    # What only rises means nothing by itself, and a histogram only by its rates.
    for name in re.findall(r"\bdrumbeat_\w+", query):
        if SAMPLES[name].kind is not MetricKind.GAUGE:
            assert re.search(rf"\b(rate|increase)\({name}[{{\[]", query)


def test_every_metric_is_shown() -> None:
    shown = {name for _, query in queries() for name in re.findall(r"\bdrumbeat_\w+", query)}
    assert {SAMPLES[name].name for name in shown} == {family.name for family in FAMILIES}


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_a_panel_says_what_it_shows(panel: dict[str, Any]) -> None:
    assert panel["title"]
    assert re.fullmatch(r"[A-Z].*\.", panel["description"])
    assert panel["fieldConfig"]["defaults"]["unit"] in UNITS
    assert panel["datasource"]["uid"] == "${datasource}"
    seconds = any("_seconds_bucket" in target["expr"] for target in panel["targets"])
    if seconds:
        assert panel["fieldConfig"]["defaults"]["unit"] == "s"


def test_panels_have_names_and_places_of_their_own() -> None:
    titles = [panel["title"] for panel in PANELS]
    assert len(set(titles)) == len(titles)
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_an_alert_says_what_is_wrong_and_what_to_do(rule: dict[str, Any]) -> None:
    assert rule["alert"].startswith("Drumbeat")
    assert rule["labels"]["severity"] in {"critical", "warning"}
    assert rule["annotations"]["summary"]
    assert rule["annotations"]["description"].endswith(".")
    shown = set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"])))
    kept = {
        label.strip()
        for group in re.findall(r"\bby \(([^)]*)\)", rule["expr"])
        for label in group.split(",")
    }
    assert shown <= kept, "a label that the query drops is empty in the text"


def test_the_alerts_that_were_promised_are_there() -> None:
    assert {rule["alert"] for rule in ALERTS} >= {
        "DrumbeatNoLeader",
        "DrumbeatTicksLate",
        "DrumbeatTicksLost",
        "DrumbeatSeveralVersions",
        "DrumbeatQueueOld",
        "DrumbeatStoreErrors",
        "DrumbeatClockSkew",
        "DrumbeatWorkersBusy",
    }


def test_outcomes_that_queries_ask_for_exist() -> None:
    known = {*OUTCOMES, "completed", "failed", "cancelled"}
    for _, query in queries():
        for text in re.findall(r'outcome=~?"([^"]*)"', query):
            assert set(text.split("|")) <= known
