"""Who is let in by etcd: users with a password, and clients with a certificate."""

from __future__ import annotations

import asyncio
import base64
import gc
import ssl
import subprocess
import warnings
from collections.abc import Iterator, Mapping
from datetime import timedelta
from http.client import HTTPSConnection
from pathlib import Path
from typing import TypeVar

import pytest

from drumbeat.backends.etcd.coordinator.coordinator import ADDRESS_FORMAT
from drumbeat.backends.http.address import RemoteAddress
from drumbeat.backends.http.failover_client import FailoverClient, HttpRequest
from drumbeat.engine.plumbing.runtime import SystemRuntime
from drumbeat.model.errors import ConfigurationError, Unavailable
from drumbeat.testing.conformance.builders import ANNE
from servers import Etcd, Missing, web
from servers.etcd import EtcdMember

from .etcd_cases import opened

Member = TypeVar("Member", bound=EtcdMember)
TTL = timedelta(seconds=30)
SOON = 30.0
clock = SystemRuntime().clock


class GuardedMember(EtcdMember):
    """A member that is ready as soon as it asks who is there."""

    def _has_majority(self) -> bool:
        return web.post(self.port, "/v3/kv/range", {"key": "AA=="}).status in (200, 400)


def alone(kind: type[Member]) -> Member:
    try:
        return kind("3.5", {})
    except Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def guarded() -> Iterator[Etcd]:
    """An etcd that asks who everybody is. Anna may use the keys below `ours/`, Bert none."""
    with Etcd([alone(GuardedMember)]).begin() as server:
        for path, document in (
            ("user/add", {"name": "root", "password": "root"}),
            ("user/grant", {"user": "root", "role": "root"}),
            ("user/add", {"name": "anna", "password": "hunter2"}),
            ("user/add", {"name": "bert", "password": "hunter3"}),
            ("role/add", {"name": "ours"}),
            ("role/grant", {"name": "ours", "perm": permission("ours/")}),
            ("user/grant", {"user": "anna", "role": "ours"}),
            ("enable", {}),
        ):
            assert web.post(server.port, f"/v3/auth/{path}", document).status == 200
        yield server


class TestUsers:
    async def test_a_user_with_a_password_is_let_in(self, guarded: Etcd) -> None:
        async with opened(f"etcd://anna:hunter2@127.0.0.1:{guarded.port}/ours") as coordinator:
            lease = await coordinator.leases.acquire("scheduler", ANNE, TTL)
            assert lease is not None
            assert await coordinator.leases.renew(lease) == lease
            assert await coordinator.leases.release(lease)

    @pytest.mark.parametrize(
        ("user", "sentence"),
        [
            ("", "etcd requires a user"),
            ("anna:wrong@", "etcd rejects the user name 'anna' or its password"),
            ("bert:hunter3@", "etcd denies permission to the user 'bert'"),
        ],
    )
    async def test_who_is_not_let_in_is_told_what_to_change_without_the_password(
        self, guarded: Etcd, user: str, sentence: str
    ) -> None:
        with pytest.raises(ConfigurationError, match=sentence) as refused:
            async with opened(f"etcd://{user}127.0.0.1:{guarded.port}/ours"):
                pass
        assert "hunter" not in str(refused.value)
        assert "wrong" not in str(refused.value)

    async def test_a_token_that_etcd_has_forgotten_is_renewed(self, guarded: Etcd) -> None:
        async with opened(f"etcd://anna:hunter2@127.0.0.1:{guarded.port}/ours") as coordinator:
            watch = coordinator.configuration.watch("key")
            assert await anext(watch) is None
            await asyncio.to_thread(guarded.kill)
            await asyncio.to_thread(guarded.start_again)  # tokens live in memory
            entry = await coordinator.configuration.put("key", b"1")
            assert await coordinator.configuration.get("key") == entry
            async with asyncio.timeout(SOON):
                assert await anext(watch) == entry

    async def test_a_user_is_no_hindrance_where_nobody_is_asked(self, etcd: Etcd, key: str) -> None:
        async with opened(f"etcd://anna:x@127.0.0.1:{etcd.port}/{key}") as coordinator:
            assert await coordinator.configuration.get("key") is None


def permission(prefix: str) -> Mapping[str, str]:
    first = prefix.encode()
    end = first[:-1] + bytes([first[-1] + 1])
    encoded = [base64.b64encode(each).decode() for each in (first, end)]
    return {"permType": "READWRITE", "key": encoded[0], "range_end": encoded[1]}


class TlsMember(EtcdMember):
    """A member that wants to see a certificate."""

    certificates: Path

    def _command(self) -> list[str]:
        plain, here = f"http://127.0.0.1:{self.port}", f"https://127.0.0.1:{self.port}"
        command = [
            each.replace(plain, here) if "client-urls" in each else each
            for each in super()._command()
        ]
        folder = self.certificates
        return [
            *command,
            f"--cert-file={folder / 'server.pem'}",
            f"--key-file={folder / 'server.key'}",
            f"--trusted-ca-file={folder / 'ca.pem'}",
            "--client-cert-auth",
        ]

    def _has_majority(self) -> bool:
        context = ssl.create_default_context(cafile=self.certificates / "ca.pem")
        context.load_cert_chain(self.certificates / "client.pem", self.certificates / "client.key")
        connection = HTTPSConnection("127.0.0.1", self.port, timeout=2, context=context)
        try:
            connection.request("POST", "/v3/kv/range", '{"key": "AA=="}')
            return connection.getresponse().status == 200
        finally:
            connection.close()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates")

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    new = ("req", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-x509")
    openssl(*new, "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.pem")
    openssl(*new, "-subj", "/CN=other", "-keyout", "other.key", "-out", "other.pem")
    for name in ("server", "client"):
        signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-addext", "subjectAltName=IP:127.0.0.1")
        openssl(
            *new,
            *signed,
            "-subj",
            f"/CN={name}",
            "-keyout",
            f"{name}.key",
            "-addext",
            "basicConstraints=critical,CA:FALSE",
            "-addext",
            "extendedKeyUsage=serverAuth,clientAuth",
            "-out",
            f"{name}.pem",
        )
    return folder


@pytest.fixture(scope="module")
def server(certificates: Path) -> Iterator[Etcd]:
    member = alone(TlsMember)
    member.certificates = certificates
    with Etcd([member]).begin() as server:
        yield server


class TestTls:
    async def test_a_cluster_is_reached_with_a_certificate(
        self, server: Etcd, certificates: Path
    ) -> None:
        files = "&".join(
            f"{option}={certificates / name}"
            for option, name in {"ca": "ca.pem", "cert": "client.pem", "key": "client.key"}.items()
        )
        async with opened(f"etcds://127.0.0.1:{server.port}/x?{files}") as coordinator:
            entry = await coordinator.configuration.put("key", b"1")
            watch = coordinator.configuration.watch("key")
            assert await anext(watch) == entry

    async def test_a_server_that_nobody_vouches_for_is_refused(
        self, server: Etcd, certificates: Path
    ) -> None:
        with pytest.raises(Unavailable, match="its certificate is not trusted"):
            async with opened(f"etcds://127.0.0.1:{server.port}?ca={certificates / 'other.pem'}"):
                pass

    async def test_who_shows_no_certificate_is_not_let_in(
        self, server: Etcd, certificates: Path
    ) -> None:
        with pytest.raises(Unavailable, match="etcd does not answer"):
            async with opened(f"etcds://127.0.0.1:{server.port}?ca={certificates / 'ca.pem'}"):
                pass

    def test_closed_client_leaves_no_connection_to_a_server_that_does_not_answer(
        self, server: Etcd, certificates: Path
    ) -> None:
        address = f"etcds://127.0.0.1:{server.port}?ca={certificates / 'ca.pem'}"
        files = f"&cert={certificates / 'client.pem'}&key={certificates / 'client.key'}"
        client = FailoverClient(RemoteAddress.parse(address + files, ADDRESS_FORMAT), clock)

        async def call_and_close() -> None:
            assert (await client.send(HttpRequest("GET", "/version"))).status == 200
            server.pause()
            await client.close()

        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always", ResourceWarning)
            try:
                asyncio.run(call_and_close())
            finally:
                server.resume()
            gc.collect()
        assert [str(each.message) for each in warned] == []
