"""The Kubernetes manifests name what the product has, and are what a careful cluster asks for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from .product import DEPLOY, GRACE, ROLES, STOP_LEEWAY, check_node, port_of, serves

FOLDER = DEPLOY / "kubernetes"
KUSTOMIZATION: dict[str, Any] = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
PROBES = {"startupProbe": "/startupz", "livenessProbe": "/livez", "readinessProbe": "/readyz"}


def objects() -> Iterator[dict[str, Any]]:
    for name in KUSTOMIZATION["resources"]:
        yield from yaml.safe_load_all((FOLDER / name).read_text(encoding="utf-8"))


def of_kind(kind: str) -> dict[str, dict[str, Any]]:
    return {each["metadata"]["name"]: each for each in objects() if each["kind"] == kind}


def pod(role: str) -> dict[str, Any]:
    spec: dict[str, Any] = of_kind("Deployment")[role]["spec"]["template"]["spec"]
    return spec


def container(role: str) -> dict[str, Any]:
    (only,) = pod(role)["containers"]
    found: dict[str, Any] = only
    return found


def variables(role: str) -> dict[str, str]:
    """The environment of a node, as Kubernetes puts it together."""
    (source,) = container(role)["envFrom"]
    shared = of_kind("ConfigMap")[source["configMapRef"]["name"]]["data"]
    own = {each["name"]: each.get("value", "a-pod") for each in container(role)["env"]}
    assert not shared.keys() & own.keys()
    return {**shared, **own}


def test_every_manifest_is_applied() -> None:
    files = {path.name for path in FOLDER.glob("*.yaml")} - {"kustomization.yaml"}
    assert set(KUSTOMIZATION["resources"]) == files
    for each in objects():
        if each["kind"] != "Namespace":
            assert each["metadata"]["namespace"] == KUSTOMIZATION["namespace"]
    assert list(of_kind("Namespace")) == [KUSTOMIZATION["namespace"]]


def test_there_is_one_deployment_for_each_role() -> None:
    assert set(of_kind("Deployment")) == set(ROLES)


@pytest.mark.parametrize("role", ROLES)
def test_its_command_and_its_variables_exist(role: str) -> None:
    assert container(role)["args"][0] == role
    check_node(container(role)["args"], variables(role))


@pytest.mark.parametrize("role", ROLES)
def test_its_probes_ask_what_it_serves_where_it_serves(role: str) -> None:
    port = port_of(role, check_node(container(role)["args"], variables(role)))
    (named,) = container(role)["ports"]
    assert named == {"name": "http", "containerPort": port}
    for probe, path in PROBES.items():
        asked = container(role)[probe]["httpGet"]
        assert asked == {"path": path, "port": "http"}
        assert serves(role, path)
    startup = container(role)["startupProbe"]
    assert startup["periodSeconds"] * startup["failureThreshold"] > 60  # a node waits for its store


@pytest.mark.parametrize("role", ROLES)
def test_it_may_finish_its_jobs(role: str) -> None:
    config = check_node(container(role)["args"], variables(role))
    seconds = pod(role)["terminationGracePeriodSeconds"]
    assert seconds >= config.seconds("grace") + STOP_LEEWAY
    assert config.seconds("grace") == GRACE


@pytest.mark.parametrize("role", ROLES)
def test_it_has_no_rights(role: str) -> None:
    assert pod(role)["automountServiceAccountToken"] is False
    shared, own = pod(role)["securityContext"], container(role)["securityContext"]
    assert (shared["runAsNonRoot"], shared["runAsUser"]) == (True, 10001)
    assert shared["seccompProfile"] == {"type": "RuntimeDefault"}
    assert own == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


@pytest.mark.parametrize("role", ROLES)
def test_it_says_what_it_needs(role: str) -> None:
    resources = container(role)["resources"]
    assert resources["requests"].keys() == {"cpu", "memory"}
    assert "memory" in resources["limits"]


@pytest.mark.parametrize("role", ROLES)
def test_its_secrets_are_files_that_it_mounts(role: str) -> None:
    secret = of_kind("Secret")["drumbeat"]["stringData"]
    folder = Path("/run/secrets/drumbeat")
    mounted = {each["name"]: each["mountPath"] for each in container(role)["volumeMounts"]}
    assert mounted["secrets"] == str(folder)
    files = {name: Path(value) for name, value in variables(role).items() if "_FILE" in name}
    assert {path.parent for path in files.values()} == {folder}
    assert {path.name for path in files.values()} == secret.keys()
    assert not [name for name in variables(role) if "DSN" in name and "_FILE" not in name]


def test_selectors_find_the_pods_of_their_role_only() -> None:
    for role, deployment in of_kind("Deployment").items():
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        assert deployment["spec"]["selector"]["matchLabels"] == labels
        budget = of_kind("PodDisruptionBudget")[role]["spec"]
        assert budget["selector"]["matchLabels"] == labels
        assert 1 <= budget["minAvailable"] < deployment["spec"]["replicas"]
    (service,) = of_kind("Service").values()
    api = of_kind("Deployment")["api"]["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"] == api
    assert service["spec"]["ports"][0]["targetPort"] == "http"
