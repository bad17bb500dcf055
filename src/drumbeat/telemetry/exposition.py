"""Exposition: samples in the words of Prometheus. The only file that knows its client library."""

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

from drumbeat.telemetry.families import FAMILIES, Family, Kind
from drumbeat.telemetry.samples import Sample
from drumbeat.telemetry.tallies import Spread

Filled: TypeAlias = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily

KINDS: dict[Kind, type[Filled]] = {
    Kind.COUNTER: CounterMetricFamily,
    Kind.GAUGE: GaugeMetricFamily,
    Kind.HISTOGRAM: HistogramMetricFamily,
}


class Exposition(Collector):
    """A registry of its own, for which the samples are gathered at each scrape."""

    def __init__(self, samples: Callable[[], Iterable[Sample]]) -> None:
        self._samples = samples
        self.registry = CollectorRegistry()
        """To be mounted elsewhere, or to hold metrics of an app's own beside these."""
        self.registry.register(self)

    def text(self, accept: str) -> tuple[bytes, str]:
        """All samples in the format that is accepted, and the content type of that."""
        encode, content_type = choose_encoder(accept)
        return encode(self.registry), content_type

    def describe(self) -> Iterable[Metric]:
        """The names, for which nothing is gathered."""
        return [_empty(family) for family in FAMILIES]

    def collect(self) -> Iterator[Metric]:
        """Every metric, also one without a sample."""
        metrics = {family.name: _empty(family) for family in FAMILIES}
        for sample in self._samples():
            _fill(metrics[sample.family.name], sample)
        yield from metrics.values()


def _empty(family: Family) -> Filled:
    return KINDS[family.kind](family.name, family.meaning, labels=family.labels)


def _fill(metric: Filled, sample: Sample) -> None:
    if isinstance(metric, HistogramMetricFamily):
        assert isinstance(sample.value, Spread), "a histogram has ranges"
        metric.add_metric(sample.labels, _ranges(sample.value), sample.value.total)
    else:
        assert not isinstance(sample.value, Spread), "only a histogram has ranges"
        metric.add_metric(sample.labels, sample.value)


def _ranges(spread: Spread) -> list[tuple[str, float]]:
    return [("+Inf" if isinf(bound) else f"{bound:g}", count) for bound, count in spread.ranges]
