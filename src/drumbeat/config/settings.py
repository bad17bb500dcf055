"""The settings of an app, as keyword arguments in code."""

from __future__ import annotations

from typing import TypedDict

from drumbeat.model.time.duration import Duration


class Settings(TypedDict, total=False):
    """The settings of an app, as keyword arguments of `Drumbeat`. `Config` says what each means."""

    namespace: str
    instance_id: str
    leader_election: bool
    lease_ttl: Duration
    renew_interval: Duration | None
    retry_interval: Duration
    concurrency: int
    threads: int
    processes: int
    queues: tuple[str, ...]
    heartbeat_every: Duration
    node_lifetime: Duration
    keep_jobs: Duration
    keep_ticks: Duration
    keep_nodes: Duration
    keep_audit: Duration
    declared_only: bool
    grace: Duration
    store_wait: Duration
    http_addr: str
    worker_http_addr: str | None
    default_task: str | None
    tz: str
    api_token: str | None
    insecure: bool
    read_only: bool
    trusted_proxies: tuple[str, ...]
    log_level: str
    log_format: str
    tracing: bool
    postgres_dsn: str | None
    mongodb_uri: str | None
    redis_url: str | None
    redis_stream_name: str
    redis_group_name: str
    etcd_endpoints: str | None
    consul_http_addr: str | None
