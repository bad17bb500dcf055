"""Addresses of etcd and Consul, and whole apps that are led through one of them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from drumbeat import Drumbeat
from drumbeat.backends.consul.coordinator.coordinator import ADDRESS_FORMAT as CONSUL
from drumbeat.backends.etcd.coordinator.coordinator import ADDRESS_FORMAT as ETCD
from drumbeat.backends.http.address import AddressFormat, RemoteAddress
from drumbeat.config import Config, masked
from drumbeat.engine.plumbing.runtime import SystemRuntime
from drumbeat.extras import install_command
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.fleet.lease import Lease
from servers import Consul, Etcd

PATIENCE = 60.0


class TestAddresses:
    @pytest.mark.parametrize(
        ("address", "kind", "endpoints", "prefix"),
        [
            ("etcd://a", ETCD, ["http://a:2379"], ""),
            ("etcd://a:1,b:2", ETCD, ["http://a:1", "http://b:2"], ""),
            ("etcd://a,b/x/y/", ETCD, ["http://a:2379", "http://b:2379"], "x/y/"),
            ("etcds://[::1],[::2]:7", ETCD, ["https://[::1]:2379", "https://[::2]:7"], ""),
            ("consul://c/x?dc=eu", CONSUL, ["http://c:8500"], "x/"),
            ("consuls://c:1", CONSUL, ["https://c:1"], ""),
        ],
    )
    def test_an_address_names_endpoints_and_a_prefix(
        self, address: str, kind: AddressFormat, endpoints: list[str], prefix: str
    ) -> None:
        remote = RemoteAddress.parse(address, kind)
        assert (list(remote.endpoints), remote.prefix) == (endpoints, prefix)
        assert (remote.tls is not None) == address.startswith(("etcds", "consuls"))

    def test_a_password_may_hold_what_an_address_means_otherwise(self) -> None:
        remote = RemoteAddress.parse("etcd://anna:a%40b%2Fc%3Fd:e@h1,h2", ETCD)
        assert (remote.user, remote.password) == ("anna", "a@b/c?d:e")
        assert "a@b" not in repr(remote)

    @pytest.mark.parametrize(
        ("address", "sentence"),
        [
            ("etcd://", "names no host; write it as 'etcd://host:2379'"),
            ("etcd://a,,b", "names no host"),
            ("etcd://a:port", "etcd cannot be reached at 'a:port'"),
            ("etcd://u:hunter2@a:99999", "etcd cannot be reached at 'a:99999'"),
            ("etcd://u:hunter2@a?timeout=3", "has no option 'timeout'; there are ca, cert, key"),
            ("etcd://a?ca=x.pem", "needs TLS; begin it with 'etcds://'"),
            ("etcds://a?ca=gone.pem", "ca= in the address of etcd is not a file: gone.pem"),
            ("etcds://a?key=PAGE", "key= in the address of etcd needs cert= beside it"),
            ("etcds://a?ca=PAGE", "the files of ca in the address of etcd cannot be used"),
        ],
    )
    def test_what_is_wrong_is_said_without_the_password(self, address: str, sentence: str) -> None:
        with pytest.raises(ConfigurationError) as refused:
            RemoteAddress.parse(address.replace("PAGE", __file__), ETCD)
        assert sentence in str(refused.value)
        assert "hunter2" not in str(refused.value)

    @pytest.mark.parametrize(
        ("name", "text", "address"),
        [
            ("ETCD_ENDPOINTS", "a:2379,b:2379", "etcd://a:2379,b:2379"),
            ("ETCD_ENDPOINTS", "http://a:2379,http://b:2379", "etcd://a:2379,b:2379"),
            ("ETCD_ENDPOINTS", "https://a:2379,https://b:2379", "etcds://a:2379,b:2379"),
            ("ETCD_ENDPOINTS", "etcds://u:p@a/x", "etcds://u:p@a/x"),
            ("CONSUL_HTTP_ADDR", "c:8500", "consul://c:8500"),
            ("CONSUL_HTTP_ADDR", "http://c:8500", "consul://c:8500"),
            ("CONSUL_HTTP_ADDR", "https://c:8500?dc=eu", "consuls://c:8500?dc=eu"),
        ],
    )
    def test_what_other_tools_take_for_an_address_is_one(
        self, name: str, text: str, address: str
    ) -> None:
        assert Config.load({}, {name: text}).coordinator == address

    @pytest.mark.parametrize(
        "address",
        [
            "consul://hunter2@c:8500",
            "consuls://hunter2@c1,c2/x",
            "consul://c:8500?token=hunter2",
            "https://hunter2@c:8500",
            "etcd://anna:hunter2@a:2379,b:2379",
        ],
    )
    def test_a_secret_is_not_shown(self, address: str) -> None:
        assert "hunter2" not in masked(address)


class TestExtras:
    """In a process of its own: modules that are imported anew are not those of other tests."""

    @pytest.mark.parametrize(
        ("address", "sentence"),
        [
            ("etcd://a", f"etcd needs the extra etcd: {install_command('etcd')}"),
            ("consul://a", f"Consul needs the extra consul: {install_command('consul')}"),
        ],
    )
    def test_an_extra_that_is_missing_is_named(self, address: str, sentence: str) -> None:
        program = (
            "import sys; sys.modules['aiohttp'] = None; from drumbeat import Drumbeat; "
            "Drumbeat('memory://', coordinator=sys.argv[1], environment={})"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, address], capture_output=True, text=True, check=False
        )
        assert done.stderr.splitlines()[-1] == (
            f"drumbeat.model.errors.ConfigurationError: {sentence}"
        )


class TestApps:
    @pytest.fixture(params=["etcd", "consul"])
    def address(self, request: pytest.FixtureRequest) -> str:
        server: Etcd | Consul = request.getfixturevalue(request.param)
        return f"{server.address}/{SystemRuntime().random.getrandbits(64):x}"

    async def test_two_apps_elect_one_leader_and_the_other_takes_over(
        self, address: str, tmp_path: Path
    ) -> None:
        store = f"sqlite:///{tmp_path}/drumbeat.db"
        one, two = (
            Drumbeat(store, coordinator=address, environment={}, instance_id=name)
            for name in ("one", "two")
        )
        async with asyncio.timeout(PATIENCE), two.connected():
            async with one.running():
                while (first := await two.leadership.leader()) is None:
                    await SystemRuntime().clock.sleep(0.05)
                await two.start()
            while (second := await two.leadership.leader()) is None or is_of("one", second):
                await SystemRuntime().clock.sleep(0.05)  # its term may have to run out
            await two.stop()
        assert is_of("one", first)
        assert is_of("two", second)
        assert second.token > first.token

    def test_a_lock_serves_one_event_loop_after_the_other(
        self, address: str, tmp_path: Path
    ) -> None:
        app = Drumbeat(f"sqlite:///{tmp_path}/drumbeat.db", coordinator=address, environment={})

        async def once() -> int:
            async with app.connected(), app.lock("report") as lock:
                return lock.token

        tokens = [asyncio.run(once()) for _ in range(3)]
        assert tokens == sorted(set(tokens))

    def test_even_if_the_connections_of_an_earlier_one_were_never_closed(
        self, address: str
    ) -> None:
        name = "etcd" if address.startswith("etcd") else "consul"
        script = LEFT_OPEN.format(module=name, kind=f"{name.capitalize()}Coordinator")
        done = subprocess.run(
            [sys.executable, "-c", script, address],
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert (done.stdout, done.returncode) == ("b'2'\n", 0), done.stderr


def is_of(name: str, lease: Lease) -> bool:
    return lease.holder.startswith(f"{name}:")


LEFT_OPEN = """
import asyncio, sys
from drumbeat.backends.{module}.coordinator import {kind}
from drumbeat.engine.plumbing.runtime import SystemRuntime

coordinator = {kind}(sys.argv[1], SystemRuntime())
for number in range(3):
    asyncio.run(coordinator.configuration.put("key", str(number).encode()))
print(asyncio.run(coordinator.configuration.get("key")).value)
asyncio.run(coordinator.close())
"""
