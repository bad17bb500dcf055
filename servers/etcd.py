"""etcd with one or several members."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Self

from servers import web
from servers.packages import ETCD_3_4, ETCD_3_5
from servers.ports import free_port
from servers.raft import RaftCluster, RaftMember

PACKAGES = {"3.5": ETCD_3_5, "3.4": ETCD_3_4}
"""By version. Other Debian releases have other versions, so `_program` checks the version."""
ANY_KEY = "AA=="


class EtcdMember(RaftMember):
    """One member of an etcd cluster."""

    name = "etcd"

    def __init__(self, version: str, settings: Mapping[str, str]) -> None:
        self._program = _program(version)
        super().__init__()
        self.peer_port = free_port()
        self._settings = settings

    @property
    def address(self) -> str:
        """The URL of this member alone."""
        return f"etcd://127.0.0.1:{self.port}"

    def leads(self) -> bool:
        """Whether it considers itself the leader."""
        answer = web.post(self.port, "/v3/maintenance/status", {}, web.BRIEF)
        if answer.status != 200:
            return False
        status = answer.document
        return bool(status.get("leader") == status["header"]["member_id"])

    def _has_majority(self) -> bool:
        return web.post(self.port, "/v3/kv/range", {"key": ANY_KEY}, web.BRIEF).status == 200

    def _command(self) -> list[str]:
        here, peer = f"http://127.0.0.1:{self.port}", f"http://127.0.0.1:{self.peer_port}"
        members = [member for member in self.peers if isinstance(member, EtcdMember)]
        cluster = [f"m{each.port}=http://127.0.0.1:{each.peer_port}" for each in members]
        flags = {
            "name": f"m{self.port}",
            "data-dir": str(self.data),
            "listen-client-urls": here,
            "advertise-client-urls": here,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": ",".join(cluster),
            **self._settings,
        }
        return [str(self._program), *(f"--{name}={value}" for name, value in flags.items())]


@cache
def _program(version: str) -> Path:
    package = PACKAGES[version]
    program = package.require()
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    if f"etcd Version: {version}." not in said.stdout:
        raise package.missing()
    return program


class Etcd(RaftCluster):
    """An etcd cluster."""

    @classmethod
    def start(
        cls, nodes: int = 1, version: str = "3.5", settings: Mapping[str, str] | None = None
    ) -> Self:
        """Start an empty cluster; the settings are the flags of `etcd`."""
        return cls([EtcdMember(version, settings or {}) for _ in range(nodes)]).begin()

    @property
    def address(self) -> str:
        """The URL of all its members."""
        return "etcd://" + ",".join(f"127.0.0.1:{member.port}" for member in self.members)
