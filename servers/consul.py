"""Consul with one or several servers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Self

from servers import web
from servers.packages import CONSUL
from servers.ports import free_port
from servers.raft import RaftCluster, RaftMember


class ConsulMember(RaftMember):
    """One server of a Consul cluster."""

    name = "Consul"

    def __init__(self, settings: Mapping[str, object]) -> None:
        self._program = CONSUL.require()
        super().__init__()
        self.gossip_port = free_port()
        self.peer_port = free_port()
        self._settings = settings

    @property
    def address(self) -> str:
        """The URL of this server alone."""
        return f"consul://127.0.0.1:{self.port}"

    def leads(self) -> bool:
        """Whether it considers itself the leader."""
        leader = web.get(self.port, "/v1/status/leader", web.BRIEF)
        return leader.status == 200 and leader.document == f"127.0.0.1:{self.peer_port}"

    def _has_majority(self) -> bool:
        return web.get(self.port, "/v1/kv/?keys&consistent", web.BRIEF).status in (200, 404)

    def fill(self) -> None:
        super().fill()
        members = [member for member in self.peers if isinstance(member, ConsulMember)]
        configuration = {
            "node_name": f"m{self.port}",
            "server": True,
            "bootstrap_expect": len(members),
            "data_dir": str(self.data / "state"),
            "bind_addr": "127.0.0.1",
            "client_addr": "127.0.0.1",
            "retry_join": [f"127.0.0.1:{each.gossip_port}" for each in members if each != self],
            "retry_interval": "1s",
            "session_ttl_min": "1s",
            "performance": {"raft_multiplier": 1},
            "disable_update_check": True,
            "ports": {
                "http": self.port,
                "serf_lan": self.gossip_port,
                "server": self.peer_port,
                "serf_wan": -1,
                "dns": -1,
            },
            **self._settings,
        }
        text = json.dumps(configuration)
        (self.data / "consul.json").write_text(text, encoding="utf-8")

    def _command(self) -> list[str]:
        return [str(self._program), "agent", f"-config-file={self.data / 'consul.json'}"]


class Consul(RaftCluster):
    """A Consul cluster that accepts sessions of one second."""

    @classmethod
    def start(cls, nodes: int = 1, settings: Mapping[str, object] | None = None) -> Self:
        """Start an empty cluster; the settings are those of Consul's JSON configuration."""
        return cls([ConsulMember(settings or {}) for _ in range(nodes)]).begin()

    @property
    def address(self) -> str:
        """The URL of all its servers."""
        return "consul://" + ",".join(f"127.0.0.1:{member.port}" for member in self.members)
