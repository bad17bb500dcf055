"""Ways to a Redis: over TLS, and by a Unix socket."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TypeVar

from drumbeat.model.errors import ConfigurationError
from servers import Redis
from servers.ports import free_port

from .redis_cases import connected, refusal_of

T = TypeVar("T")


def make_certificate(certificate: Path, key: Path) -> None:
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )


async def test_a_secure_connection_is_made_and_a_stranger_is_refused(
    redis: Redis, tmp_path: Path
) -> None:
    certificate, key = tmp_path / "server.pem", tmp_path / "server.key"
    make_certificate(certificate, key)
    port = free_port()
    settings = {
        "tls-port": str(port),
        "tls-cert-file": str(certificate),
        "tls-key-file": str(key),
        "tls-ca-cert-file": str(certificate),
        "tls-auth-clients": "no",
    }
    with Redis.start(settings):
        address = f"rediss://127.0.0.1:{port}"
        async with connected(f"{address}?ssl_ca_certs={certificate}", "safe") as coordinator:
            await coordinator.configuration.put("key", b"1")
            assert await anext(coordinator.configuration.watch("key")) is not None
        refusal = await refusal_of(address)
    assert isinstance(refusal, ConfigurationError)
    assert "no secure connection can be made" in str(refusal)


async def test_a_unix_socket_serves_as_well(redis: Redis, tmp_path: Path) -> None:
    path = tmp_path / "redis.sock"
    with Redis.start({"unixsocket": str(path)}):
        async with connected(f"unix://{path}?db=2", "local") as coordinator:
            entry = await coordinator.configuration.put("key", b"1")
            assert await anext(coordinator.configuration.watch("key")) == entry
