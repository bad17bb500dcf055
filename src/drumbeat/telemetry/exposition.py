"""Renders samples for Prometheus. The only file that imports its client library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import isinf
from typing import TypeAlias

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from drumbeat.telemetry.counters import Histogram
from drumbeat.telemetry.families import FAMILIES, Family, MetricKind
from drumbeat.telemetry.samples import Sample

Filled: TypeAlias = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily

KINDS: dict[MetricKind, type[Filled]] = {
    MetricKind.COUNTER: CounterMetricFamily,
    MetricKind.GAUGE: GaugeMetricFamily,
    MetricKind.HISTOGRAM: HistogramMetricFamily,
}


class Exposition(Collector):
    """A registry that gathers the samples at each scrape."""

    def __init__(self, samples: Callable[[], Iterable[Sample]]) -> None:
        self._samples = samples
        self.registry = CollectorRegistry()
        """Can be mounted elsewhere, and can hold an app's own metrics beside these."""
        self.registry.register(self)

    def text(self, accept: str) -> tuple[bytes, str]:
        encode, content_type = choose_encoder(accept)
        return encode(self.registry), content_type

    def describe(self) -> Iterable[Metric]:
        return [_empty(family) for family in FAMILIES]

    def collect(self) -> Iterator[Metric]:
        metrics = {family.name: _empty(family) for family in FAMILIES}
        for sample in self._samples():
            _fill(metrics[sample.family.name], sample)
        yield from metrics.values()


def _empty(family: Family) -> Filled:
    return KINDS[family.kind](family.name, family.meaning, labels=family.labels)


def _fill(metric: Filled, sample: Sample) -> None:
    if isinstance(metric, HistogramMetricFamily):
        assert isinstance(sample.value, Histogram), "a histogram family takes histograms"
        metric.add_metric(sample.labels, _ranges(sample.value), sample.value.total)
    else:
        assert not isinstance(sample.value, Histogram), "only a histogram family takes histograms"
        metric.add_metric(sample.labels, sample.value)


def _ranges(histogram: Histogram) -> list[tuple[str, float]]:
    return [("+Inf" if isinf(bound) else f"{bound:g}", count) for bound, count in histogram.ranges]
