"""The etcd and Consul servers of the tests, with one member and with three."""

import base64
from contextlib import suppress
from threading import Event

import pytest

from drumbeat.engine.plumbing.runtime import SystemClock
from servers import Consul, Etcd, web

PATIENCE = 60.0
"""Seconds. A member that is busy or in an election may not answer for a while."""
PAUSE = 0.05

clock = SystemClock()


def put(server: Etcd, at: int) -> bool:
    """Write through one member; returns whether the write was accepted."""
    document = {"key": base64.b64encode(b"key").decode(), "value": ""}
    return answer_of(server.members[at].port, "/v3/kv/put", document).status == 200


def count(server: Etcd) -> str:
    document = {"key": base64.b64encode(b"key").decode(), "count_only": True}
    answer: str = answer_of(server.port, "/v3/kv/range", document).document.get("count", "0")
    return answer


def answer_of(port: int, path: str, document: object) -> web.Answer:
    """Ask until the server answers."""
    until = clock.elapsed() + PATIENCE
    while clock.elapsed() < until:
        with suppress(TimeoutError):
            answer = web.post(port, path, document, web.BRIEF)
            if answer.status < 500:
                return answer
        Event().wait(PAUSE)
    raise AssertionError(f"port {port} does not answer {path}")


@pytest.mark.parametrize("version", ["3.5", "3.4"])
def test_etcd_keeps_what_it_has_acknowledged(version: str, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue({"3.5": "etcd", "3.4": "etcd_older"}[version])
    with Etcd.start(version=version) as server:
        assert web.get(server.port, "/version").document["etcdserver"].startswith(version)
        assert put(server, at=0)
        server.kill()
        with pytest.raises(ConnectionError):
            count(server)
        server.start_again()
        assert count(server) == "1"
        server.stop()
        server.restart_empty()
        assert count(server) == "0"


def test_three_members_elect_another_when_their_leader_is_killed(etcd_three: Etcd) -> None:
    leader = etcd_three.leader()
    leader.kill()
    other = etcd_three.leader()
    assert other is not leader
    assert put(etcd_three, at=etcd_three.members.index(other))
    leader.start_again()
    assert count(etcd_three) == "1"


def test_members_come_back_one_by_one_after_all_were_killed(etcd_three: Etcd) -> None:
    etcd_three.kill()
    for member in etcd_three.members:
        member.start_again()
    assert etcd_three.leader().running


def test_consul_keeps_what_it_has_acknowledged(consul: Consul) -> None:
    with Consul.start() as server:
        document = [{"KV": {"Verb": "set", "Key": "key", "Value": ""}}]
        assert web.put(server.port, "/v1/txn", document).status == 200
        server.kill()
        server.start_again()
        assert web.get(server.port, "/v1/kv/key?consistent").status == 200
        server.stop()
        server.restart_empty()
        assert web.get(server.port, "/v1/kv/key?consistent").status == 404


def test_three_consuls_elect_another_when_their_leader_is_killed(consul_three: Consul) -> None:
    leader = consul_three.leader()
    leader.kill()
    assert consul_three.leader() is not leader
    leader.start_again()
