"""The configuration of an app: one frozen value, and the table of all settings.

The fields of `Config` are that table. Each row has the setting's kind, its meaning and its plain
names in the environment; reading, checking, `drumbeat config show`, the command-line options and
the tests of the docs follow from it.
"""

# ruff: noqa: RUF009 - the calls in the class body make dataclass fields

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from datetime import timedelta
from typing import Any, Self

from drumbeat.config.backends import NONE
from drumbeat.config.kinds import (
    BackendUrl,
    Boolean,
    Choice,
    Count,
    HttpAddress,
    Identifier,
    Length,
    NameList,
    SettingKind,
    Text,
    Token,
    ZoneName,
)
from drumbeat.config.mask import MASK, masked
from drumbeat.config.origin import CODE, SettingOrigin
from drumbeat.config.setting import Setting, SettingRow, row_of, setting
from drumbeat.model.errors import ConfigurationError, InvalidInput
from drumbeat.model.jobs.job import DEFAULT_QUEUE
from drumbeat.model.part import Part
from drumbeat.model.time.duration import Duration, parse_duration

HIGHEST_CONCURRENCY = 10_000
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
OTHER_LEVELS = (("WARN", "WARNING"), ("FATAL", "CRITICAL"), ("TRACE", "DEBUG"))
FORMATS = ("TEXT", "JSON")
COUNT = Count(HIGHEST_CONCURRENCY)


def _setting(
    kind: SettingKind, meaning: str, default: Any, *plain: str, option: str | None = ""
) -> Any:
    """A field of the table. A default that is a function is called for each configuration."""
    secret = isinstance(kind, BackendUrl | Token)
    row = setting(SettingRow(kind, meaning, plain, secret=secret, option=option))
    if callable(default):
        return field(default_factory=default, metadata=row)
    return field(default=default, metadata=row)


def _url(meaning: str, *plain: str) -> Any:
    """The address of a part, or of a backend by a plain name, which has no option."""
    return _setting(BackendUrl(), meaning, None, *plain, option=None if plain else "")


def _length(meaning: str, default: float | timedelta | None, *plain: str) -> Any:
    return _setting(Length(may_be_missing=default is None), meaning, default, *plain)


def _boolean(meaning: str, default: object, *plain: str) -> Any:
    return _setting(Boolean(), meaning, default, *plain)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Config:
    """Every setting of an app. Durations may be given as seconds, `timedelta` or "15s"."""

    store: str | None = _url("where all state is kept; required")
    coordinator: str | None = _url("what appoints leaders; the store by default")
    queue: str | None = _url("what notifies the workers of new jobs; the store by default")
    namespace: str = _setting(
        Identifier(), "separates apps that share a store or a coordinator", "drumbeat"
    )
    instance_id: str = _setting(
        Text(),
        "the node's label, for people; several nodes may share it",
        platform.node,
        "LEADER_ELECTION_INSTANCE_ID",
        "WORKER_ID",
    )
    leader_election: bool = _boolean(
        "false: every instance considers itself the leader", True, "LEADER_ELECTION_ENABLED"
    )
    lease_ttl: Duration = _length(
        "how long a lease lasts after a renewal", 10.0, "LEADER_ELECTION_LOCK_TTL"
    )
    renew_interval: Duration | None = _length(
        "how often a leader renews its lease; three tenths of lease_ttl by default",
        None,
        "LEADER_ELECTION_RENEW_INTERVAL",
    )
    retry_interval: Duration = _length(
        "how often a follower tries to lead without a hint of a vacancy",
        2.0,
        "LEADER_ELECTION_RETRY_INTERVAL",
    )
    concurrency: int = _setting(COUNT, "how many jobs a node runs at once, without processes", 100)
    threads: int | None = _setting(
        Count(HIGHEST_CONCURRENCY, may_be_missing=True),
        "how many synchronous handlers a node runs at once, apart from `concurrency`",
        None,
    )
    processes: int = _setting(
        COUNT,
        "how many process=True handlers a node runs at once, besides the other jobs",
        lambda: os.cpu_count() or 1,
        option="--handler-processes",
    )
    queues: tuple[str, ...] = _setting(
        NameList(), "the queues that a node's worker serves", (DEFAULT_QUEUE,)
    )
    heartbeat_every: Duration = _length("how often a node sends a heartbeat", 5.0)
    node_lifetime: Duration = _length("how long after its last heartbeat a node is dead", 20.0)
    keep_jobs: Duration = _length("how long finished jobs are kept", timedelta(days=7))
    keep_ticks: Duration = _length("how long the ledger of ticks is kept", timedelta(days=90))
    keep_nodes: Duration = _length("how long dead nodes are listed", timedelta(days=1))
    keep_audit: Duration = _length("how long the audit log is kept", timedelta(days=365))
    declared_only: bool = _boolean(
        "true: schedules that code declared and no longer declares are removed", False
    )
    grace: Duration = _setting(
        Length(may_be_zero=True),
        "how long running jobs may take to finish when the node stops",
        30.0,
    )
    store_wait: Duration = _setting(
        Length(may_be_zero=True),
        "how long a node that starts waits for a store that does not answer; 0: not at all",
        60.0,
        option="--wait",
    )
    http_addr: str = _setting(
        HttpAddress(), "where the HTTP API listens", "127.0.0.1:8080", "HTTP_ADDR"
    )
    worker_http_addr: str | None = _setting(
        HttpAddress(),
        "where a worker serves its health and metrics; nowhere by default",
        None,
        "WORKER_HTTP_ADDR",
    )
    default_task: str | None = _setting(
        Text(may_be_missing=True), "the task of jobs that are posted without one", None
    )
    tz: str = _setting(
        ZoneName(),
        "the time zone of cron expressions and triggers that name none",
        "UTC",
        option=None,
    )
    api_token: str | None = _setting(
        Token(), "a token with the scope admin, besides those in the store", None, option=None
    )
    insecure: bool = _boolean("true: the HTTP API requires no token", False)
    read_only: bool = _boolean("true: the HTTP API rejects every change", False)
    trusted_proxies: tuple[str, ...] = _setting(
        NameList("address", may_be_empty=True), "proxies whose X-Forwarded-* headers are used", ()
    )
    log_level: str = _setting(
        Choice(LEVELS, OTHER_LEVELS), "which lines are written", "INFO", "LOG_LEVEL"
    )
    log_format: str = _setting(
        Choice(FORMATS), "lines for people, or a JSON object per line", "TEXT", "LOG_FORMAT"
    )
    tracing: bool = _boolean("true: jobs have spans of OpenTelemetry", False)
    postgres_dsn: str | None = _url("a PostgreSQL database, as the store", "POSTGRES_DSN")
    mongodb_uri: str | None = _url("a MongoDB database, as the store", "MONGODB_URI")
    redis_url: str | None = _url(
        "a Redis server, as the queue, or with memory:// as the coordinator", "REDIS_URL"
    )
    redis_stream_name: str = _setting(
        Text(), "the stream of that queue", "jobs", "REDIS_STREAM_NAME", option=None
    )
    redis_group_name: str = _setting(
        Text(), "its consumer group", "workers", "REDIS_GROUP_NAME", option=None
    )
    etcd_endpoints: str | None = _url(
        "an etcd cluster, as the coordinator", "ETCD_ENDPOINTS", "ETCD_CONN_STR"
    )
    consul_http_addr: str | None = _url("a Consul agent, as the coordinator", "CONSUL_HTTP_ADDR")
    origins: Mapping[str, SettingOrigin] = field(
        default_factory=dict[str, SettingOrigin], compare=False
    )
    """Where each value came from; empty for a configuration that was made by hand."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """One sentence for each setting of a backend that is given and not used."""

    def __post_init__(self) -> None:
        values = {each.name: getattr(self, each.name) for each in SETTINGS}
        faults = [fault for each in SETTINGS if (fault := fault_in(each, values[each.name]))]
        if faults:
            raise ConfigurationError("\n".join(faults))

    @classmethod
    def load(
        cls,
        code: Mapping[str, object] | None = None,
        environment: Mapping[str, str] | None = None,
        dotenv: Mapping[str, str] | None = None,
        command_line: Mapping[str, str] | None = None,
    ) -> Self:
        """The settings from all sources: defaults < code < `.env` < environment < command line.

        A source that is None is read from this process: its environment, the `.env` of its working
        directory, its command line. If an environment is given, no `.env` is read. All faults raise
        one `ConfigurationError`, with a line each that names the setting, where its value came from
        and what is allowed.
        """
        from drumbeat.config.loaded_settings import LoadedSettings, Sources  # noqa: PLC0415 - it needs the table

        sources = Sources.of_this_process(code or {}, environment, dotenv, command_line)
        return cls(**LoadedSettings.of(sources).settled())

    def __repr__(self) -> str:
        shown = (f"{each.name}={masked(repr(getattr(self, each.name)))}" for each in SETTINGS)
        return f"Config({', '.join(shown)})"

    def seconds(self, name: str) -> float:
        """A duration setting, in seconds."""
        return self.length(name).total_seconds()

    def length(self, name: str) -> timedelta:
        return parse_duration(getattr(self, name))

    def given_by(self, part: Part) -> str:
        """Where the address of a part was given: its own, or else the store's."""
        own = getattr(self, part) not in (None, NONE)
        origin = self.origins.get(part if own else Part.STORE, CODE)
        return "the app's code" if origin == CODE else str(origin)

    def shown(self, name: str) -> str:
        return shown(SETTING[name], getattr(self, name))


def _default(each: Field[Any]) -> object:
    return each.default_factory() if each.default_factory is not MISSING else each.default


SETTINGS = tuple(
    Setting(each.name, _default(each), row)
    for each in fields(Config)
    if (row := row_of(each.metadata))
)
"""The table, in the order in which it is shown."""
SETTING = {each.name: each for each in SETTINGS}


def shown(each: Setting, value: object) -> str:
    """A value as people write it, secrets masked."""
    text = each.row.kind.show(value)
    if not each.row.secret:
        return text
    whole = value is not None and not isinstance(each.row.kind, BackendUrl)
    return MASK if whole else masked(text)


def fault_in(each: Setting, value: object) -> str | None:
    """What is wrong with the value; None if nothing is."""
    try:
        each.row.kind.check(each.name, value)
    except InvalidInput as error:
        return masked(str(error)) if each.row.secret else str(error)
    return None
