"""A field of a job is in a column or in the options, and no option is dropped."""

from dataclasses import fields, replace

import pytest

from drumbeat.model.fast_construction import fast_replace
from drumbeat.model.jobs.job import JobSpec
from drumbeat.model.jobs.job_options import (
    COLUMNS,
    DEFAULTS,
    JobOptions,
    options_from_text,
    options_to_text,
)
from drumbeat.model.jobs.retry import Retry
from drumbeat.testing.conformance.builders import FULL_SPEC

NAMES = [field.name for field in fields(JobSpec)]


def test_the_full_job_has_no_default() -> None:
    assert [name for name in NAMES if getattr(FULL_SPEC, name) == getattr(JobSpec("x"), name)] == []


def test_every_field_is_in_a_column_or_in_the_options() -> None:
    assert set(NAMES) == set(COLUMNS) | set(JobOptions._fields)
    assert set(COLUMNS) & set(JobOptions._fields) == set()


def test_usual_options_are_no_text() -> None:
    assert options_to_text(JobSpec("send", b"[1]", "mail", 9, tags=("a",))) is None
    assert options_from_text(None) == DEFAULTS


@pytest.mark.parametrize("name", JobOptions._fields)
def test_each_option_comes_back(name: str) -> None:
    spec = replace(JobSpec("send"), **{name: getattr(FULL_SPEC, name)})
    text = options_to_text(spec)
    assert text is not None
    assert options_from_text(text) == DEFAULTS._replace(**{name: getattr(FULL_SPEC, name)})


def test_all_options_come_back() -> None:
    read = options_from_text(options_to_text(FULL_SPEC))
    assert read == JobOptions(*(getattr(FULL_SPEC, name) for name in JobOptions._fields))


@pytest.mark.parametrize(
    ("text", "retry"),
    [
        ('["linear",5,2.5,2.5]', Retry.linear(5, 2.5)),
        ('["backpressure",2,1.0,60.0]', Retry.backpressure(2, 1.0, 60.0)),
        ('["delays",2,1.0,60.0,[60.0,1.0]]', Retry.delays("1m", 1.0)),
        ('["function",7,1.0,3600.0]', Retry.by(print, max_retries=7).stored),
    ],
)
def test_a_retry_is_read_as_it_was_written(text: str, retry: Retry) -> None:
    assert options_to_text(JobSpec("send", retry=retry)) == f'{{"retry":{text}}}'
    assert options_from_text(f'{{"retry":{text}}}').retry == retry


def test_options_of_a_later_version_are_left_out() -> None:
    assert options_from_text('{"timeout":1.5,"colour":"red"}') == DEFAULTS._replace(timeout=1.5)


def test_a_fast_copy_keeps_every_field_but_those_that_change() -> None:
    changed = fast_replace(JobSpec)
    assert changed(FULL_SPEC) == FULL_SPEC
    assert changed(FULL_SPEC, queue="slow", tags=()) == replace(FULL_SPEC, queue="slow", tags=())


def test_a_dedupe_guard_tells_scope_and_key_apart() -> None:
    jobs = [
        JobSpec("a", dedupe_key="bc"),
        JobSpec("ab", dedupe_key="c"),
        JobSpec("x", dedupe_scope="a", dedupe_key="bc"),
        JobSpec("x", dedupe_scope="ab", dedupe_key="c"),
        JobSpec("x", dedupe_scope="task:a", dedupe_key="bc"),
    ]
    assert len({job.dedupe_guard for job in jobs}) == len(jobs)
    assert JobSpec("a").dedupe_guard is None
    assert replace(jobs[2], task="y").dedupe_guard == jobs[2].dedupe_guard
