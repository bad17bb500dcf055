"""The configuration of an app: one frozen value, and the table of all settings.

The fields of `Config` are that table. Each row says the setting's kind, what it means and under
which plain names the environment may give it; reading, checking, `drumbeat config show`, the
options of the command line and the tests of the docs all follow from it.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from datetime import timedelta
from typing import Any, Self

from drumbeat.config.kinds import (
    Address,
    Boolean,
    Choice,
    Count,
    HttpAddress,
    Identifier,
    Length,
    Names,
    Text,
    Token,
)
from drumbeat.config.masking import MASK, masked
from drumbeat.config.origin import Origin
from drumbeat.config.setting import Row, Setting, row_of, setting
from drumbeat.config.settings import Duration
from drumbeat.model.duration import parse_duration
from drumbeat.model.errors import ConfigurationError, InvalidInput
from drumbeat.model.job import DEFAULT_QUEUE

HIGHEST_CONCURRENCY = 10_000
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
OTHER_LEVELS = (("WARN", "WARNING"), ("FATAL", "CRITICAL"), ("TRACE", "DEBUG"))
FORMATS = ("TEXT", "JSON")


def _address(meaning: str, *plain: str, option: str | None = "") -> Mapping[str, Row]:
    return setting(Row(Address(), meaning, plain, secret=True, option=option))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Config:
    """Every setting of an app. Lengths of time may be given as seconds, `timedelta` or "15s"."""

    store: str | None = field(
        default=None, metadata=_address("where the truth is kept; every app needs one")
    )
    coordinator: str | None = field(
        default=None, metadata=_address("who appoints leaders; the store itself if not given")
    )
    queue: str | None = field(
        default=None, metadata=_address("who tells the workers; the store itself if not given")
    )
    namespace: str = field(
        default="drumbeat",
        metadata=setting(Row(Identifier(), "keeps apps apart that share one store")),
    )
    instance_id: str = field(
        default_factory=platform.node,
        metadata=setting(
            Row(
                Text(),
                "the node's label, for people; several nodes may share it",
                ("LEADER_ELECTION_INSTANCE_ID", "WORKER_ID"),
            )
        ),
    )
    leader_election: bool = field(
        default=True,
        metadata=setting(
            Row(
                Boolean(),
                "false: every instance takes itself for the leader",
                ("LEADER_ELECTION_ENABLED",),
            )
        ),
    )
    lease_ttl: Duration = field(
        default=10.0,
        metadata=setting(
            Row(
                Length(),
                "how long a leader that went silent is waited for",
                ("LEADER_ELECTION_LOCK_TTL",),
            )
        ),
    )
    renew_interval: Duration | None = field(
        default=None,
        metadata=setting(
            Row(
                Length(may_be_missing=True),
                "how often a leader renews its lease; three tenths of lease_ttl if not given",
                ("LEADER_ELECTION_RENEW_INTERVAL",),
            )
        ),
    )
    retry_interval: Duration = field(
        default=2.0,
        metadata=setting(
            Row(
                Length(),
                "how often a follower tries to lead, when no hint of a vacancy comes",
                ("LEADER_ELECTION_RETRY_INTERVAL",),
            )
        ),
    )
    concurrency: int = field(
        default=100,
        metadata=setting(
            Row(
                Count(HIGHEST_CONCURRENCY),
                "how many jobs a node runs at once, apart from those in processes",
            )
        ),
    )
    threads: int | None = field(
        default=None,
        metadata=setting(
            Row(
                Count(HIGHEST_CONCURRENCY, may_be_missing=True),
                "how many synchronous handlers a node runs at once, apart from `concurrency`",
            )
        ),
    )
    processes: int = field(
        default_factory=lambda: os.cpu_count() or 1,
        metadata=setting(
            Row(
                Count(HIGHEST_CONCURRENCY),
                "how many process=True handlers a node runs at once, besides the other jobs",
                option="--handler-processes",
            )
        ),
    )
    queues: tuple[str, ...] = field(
        default=(DEFAULT_QUEUE,),
        metadata=setting(Row(Names(), "the queues that a node's worker serves")),
    )
    heartbeat_every: Duration = field(
        default=5.0, metadata=setting(Row(Length(), "how often a node shows that it is alive"))
    )
    node_lifetime: Duration = field(
        default=20.0,
        metadata=setting(
            Row(Length(), "how long a silent node is waited for before its jobs go to others")
        ),
    )
    keep_jobs: Duration = field(
        default=timedelta(days=7),
        metadata=setting(Row(Length(), "how long finished jobs are kept")),
    )
    keep_ticks: Duration = field(
        default=timedelta(days=90),
        metadata=setting(Row(Length(), "how long the ledger of ticks is kept")),
    )
    keep_nodes: Duration = field(
        default=timedelta(days=1),
        metadata=setting(Row(Length(), "how long nodes that are gone are still listed")),
    )
    keep_audit: Duration = field(
        default=timedelta(days=365),
        metadata=setting(Row(Length(), "how long the audit log is kept")),
    )
    grace: Duration = field(
        default=30.0,
        metadata=setting(
            Row(
                Length(may_be_zero=True),
                "how long running jobs may take to finish when the node stops",
            )
        ),
    )
    store_wait: Duration = field(
        default=60.0,
        metadata=setting(
            Row(
                Length(may_be_zero=True),
                "how long a node that starts waits for a store that does not answer; 0: not at all",
                option="--wait",
            )
        ),
    )
    http_addr: str = field(
        default="127.0.0.1:8080",
        metadata=setting(Row(HttpAddress(), "where the HTTP API listens", ("HTTP_ADDR",))),
    )
    worker_http_addr: str | None = field(
        default=None,
        metadata=setting(
            Row(
                HttpAddress(),
                "where a worker serves its health and metrics; nowhere if not given",
                ("WORKER_HTTP_ADDR",),
            )
        ),
    )
    default_task: str | None = field(
        default=None,
        metadata=setting(
            Row(Text(may_be_missing=True), "the task of jobs that are posted without one")
        ),
    )
    api_token: str | None = field(
        default=None,
        metadata=setting(
            Row(
                Token(),
                "a token with the scope admin, besides those in the store",
                secret=True,
                option=None,
            )
        ),
    )
    insecure: bool = field(
        default=False,
        metadata=setting(Row(Boolean(), "true: the HTTP API lets everybody do everything")),
    )
    read_only: bool = field(
        default=False,
        metadata=setting(Row(Boolean(), "true: the HTTP API changes nothing, whoever asks")),
    )
    trusted_proxies: tuple[str, ...] = field(
        default=(),
        metadata=setting(
            Row(
                Names("address", may_be_empty=True),
                "addresses of proxies whose word on who asks is believed",
            )
        ),
    )
    log_level: str = field(
        default="INFO",
        metadata=setting(
            Row(Choice(LEVELS, OTHER_LEVELS), "which lines are written", ("LOG_LEVEL",))
        ),
    )
    log_format: str = field(
        default="TEXT",
        metadata=setting(
            Row(Choice(FORMATS), "lines for people, or one object a line", ("LOG_FORMAT",))
        ),
    )
    tracing: bool = field(
        default=False,
        metadata=setting(Row(Boolean(), "true: jobs are followed by spans of OpenTelemetry")),
    )
    postgres_dsn: str | None = field(
        default=None,
        metadata=_address("a PostgreSQL database, as the store", "POSTGRES_DSN", option=None),
    )
    mongodb_uri: str | None = field(
        default=None,
        metadata=_address("a MongoDB database, as the store", "MONGODB_URI", option=None),
    )
    redis_url: str | None = field(
        default=None,
        metadata=_address(
            "a Redis server, as the queue; beside a store in memory, as the coordinator",
            "REDIS_URL",
            option=None,
        ),
    )
    redis_stream_name: str = field(
        default="jobs",
        metadata=setting(
            Row(Text(), "the stream of that queue", ("REDIS_STREAM_NAME",), option=None)
        ),
    )
    redis_group_name: str = field(
        default="workers",
        metadata=setting(Row(Text(), "its consumer group", ("REDIS_GROUP_NAME",), option=None)),
    )
    etcd_endpoints: str | None = field(
        default=None,
        metadata=_address(
            "an etcd cluster, as the coordinator", "ETCD_ENDPOINTS", "ETCD_CONN_STR", option=None
        ),
    )
    consul_http_addr: str | None = field(
        default=None,
        metadata=_address("a Consul agent, as the coordinator", "CONSUL_HTTP_ADDR", option=None),
    )
    origins: Mapping[str, Origin] = field(default_factory=dict[str, Origin], compare=False)
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

        What is None is taken from this process: its environment, the `.env` of its working
        directory, its command line. An environment that is given is taken for the whole
        surroundings: no `.env` is read then. All that is wrong is one `ConfigurationError`, with a
        line for each fault that names the setting, where its value came from and what is allowed.
        """
        from drumbeat.config.survey import Sources, Survey  # noqa: PLC0415 - it needs the table

        sources = Sources.of_this_process(code or {}, environment, dotenv, command_line)
        return cls(**Survey.of(sources).settled())

    def __repr__(self) -> str:
        shown = (f"{each.name}={masked(repr(getattr(self, each.name)))}" for each in SETTINGS)
        return f"Config({', '.join(shown)})"

    def seconds(self, name: str) -> float:
        """A length of time by its name, in seconds."""
        return self.length(name).total_seconds()

    def length(self, name: str) -> timedelta:
        """A length of time by its name."""
        return parse_duration(getattr(self, name))

    def shown(self, name: str) -> str:
        """A setting as people write it, its secrets masked."""
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
    """A value as people write it, its secrets masked."""
    text = each.row.kind.show(value)
    if not each.row.secret:
        return text
    whole = value is not None and not isinstance(each.row.kind, Address)
    return MASK if whole else masked(text)


def fault_in(each: Setting, value: object) -> str | None:
    """What is wrong with one value, as a sentence."""
    try:
        each.row.kind.check(each.name, value)
    except InvalidInput as error:
        return masked(str(error)) if each.row.secret else str(error)
    return None
