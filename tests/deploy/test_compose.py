"""The compose file names what the product has, and holds together."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from .product import DEPLOY, GRACE, ROLES, STOP_LEEWAY, check_node, parse, port_of

TEXT = (DEPLOY / "docker-compose.yml").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
KNOWN = {
    *("image", "restart", "init", "read_only", "tmpfs", "cap_drop", "security_opt", "secrets"),
    *("stop_grace_period", "depends_on", "command", "environment", "expose", "deploy", "ports"),
    *("healthcheck", "volumes"),
}
"""The words of the Compose Specification that the services use."""
DEFAULTS = {"HTTP_ADDR": "127.0.0.1:8080", "WORKER_HTTP_ADDR": "127.0.0.1:9090"}
"""The variables of the image."""


def variables(role: str) -> dict[str, str]:
    return {**DEFAULTS, **SERVICES[role]["environment"]}


def seconds(text: str) -> float:
    found = re.fullmatch(r"(\d+)s", text)
    assert found, f"{text} is not in seconds"
    return float(found[1])


def test_it_has_the_whole_topology() -> None:
    etcds = {"etcd-1", "etcd-2", "etcd-3"}
    assert set(SERVICES) == {"postgres", "redis", *etcds, *ROLES}
    assert SERVICES["scheduler"]["deploy"]["replicas"] == 2
    assert SERVICES["worker"]["deploy"]["replicas"] == 3


def test_its_words_are_those_of_the_specification() -> None:
    words = {"name", "services", "volumes", "secrets"}
    assert {key for key in COMPOSE if not key.startswith("x-")} == words
    for service in SERVICES.values():
        assert service.keys() <= KNOWN


@pytest.mark.parametrize("role", ROLES)
def test_its_command_and_its_variables_exist(role: str) -> None:
    assert SERVICES[role]["command"][0] == role
    config = check_node(SERVICES[role]["command"], variables(role))
    assert config.coordinator == "etcd://etcd-1:2379,etcd-2:2379,etcd-3:2379"


@pytest.mark.parametrize("role", ROLES)
def test_it_may_finish_its_jobs(role: str) -> None:
    assert seconds(SERVICES[role]["stop_grace_period"]) >= GRACE + STOP_LEEWAY


@pytest.mark.parametrize("role", ROLES)
def test_it_has_no_rights(role: str) -> None:
    service = SERVICES[role]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]


@pytest.mark.parametrize("role", ROLES)
def test_its_secrets_are_files_that_it_is_given(role: str) -> None:
    named = {
        value.removeprefix("/run/secrets/")
        for name, value in variables(role).items()
        if name.endswith("_FILE")
    }
    assert named == set(SERVICES[role]["secrets"]) <= COMPOSE["secrets"].keys()
    made = set(re.findall(r"> deploy/secrets/(\w+)", TEXT))
    assert made == COMPOSE["secrets"].keys()
    assert {each["file"] for each in COMPOSE["secrets"].values()} == {
        f"./secrets/{name}" for name in made
    }


def test_the_published_port_is_where_the_server_listens_and_only_for_this_machine() -> None:
    config = check_node(SERVICES["api"]["command"], variables("api"))
    port = port_of("api", config)
    assert SERVICES["api"]["ports"] == [f"127.0.0.1:8080:{port}"]
    workers = check_node(SERVICES["worker"]["command"], variables("worker"))
    assert SERVICES["worker"]["expose"] == [str(port_of("worker", workers))]
    assert [name for name, each in SERVICES.items() if "ports" in each] == ["api"]


def test_the_health_of_the_server_is_checked_by_a_command_that_exists() -> None:
    cmd, program, *arguments = SERVICES["api"]["healthcheck"]["test"]
    assert (cmd, program) == ("CMD", "drumbeat")
    context = parse(arguments)
    assert context.params["timeout"] < seconds(SERVICES["api"]["healthcheck"]["timeout"])


def test_everything_waits_only_for_what_exists_and_can_be_healthy() -> None:
    for service in SERVICES.values():
        for name, how in service.get("depends_on", {}).items():
            assert name in SERVICES
            if how["condition"] == "service_healthy":
                assert "healthcheck" in SERVICES[name]


def test_the_members_of_etcd_know_each_other_and_keep_their_data() -> None:
    members = {name: each for name, each in SERVICES.items() if name.startswith("etcd")}
    cluster = ",".join(f"{name}=http://{name}:2380" for name in members)
    for name, member in members.items():
        said = member["environment"]
        assert said["ETCD_NAME"] == name
        assert said["ETCD_INITIAL_CLUSTER"] == cluster
        assert said["ETCD_INITIAL_ADVERTISE_PEER_URLS"] == f"http://{name}:2380"
        assert said["ETCD_ADVERTISE_CLIENT_URLS"] == f"http://{name}:2379"
        assert member["volumes"] == [f"{name}:{said['ETCD_DATA_DIR']}"]
    volumes = {v.partition(":")[0] for each in SERVICES.values() for v in each.get("volumes", ())}
    assert volumes == COMPOSE["volumes"].keys()


def test_redis_does_not_evict() -> None:
    command = SERVICES["redis"]["command"]
    assert command[command.index("--maxmemory-policy") + 1] == "noeviction"
