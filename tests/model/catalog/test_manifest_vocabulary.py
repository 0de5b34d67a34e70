"""The words that manifests may hold, against the CRDs of the operators."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_model.catalog import manifest_vocabulary as vocabulary
from hyperpod_model.catalog.jobs import OPERATORS

CRDS = Path(__file__).parents[3].parent / "shared" / "crds"
KUBEFLOW = "pytorchjobs-v1.9.0.yaml"
OLDER = ("pytorchjobs-v1.8.1.yaml", "pytorchjobs-hyperpod-helm.yaml")
HYPERPOD = "hyperpodpytorchjob.schema.json"

needs_crds = pytest.mark.skipif(not CRDS.is_dir(), reason="no ../shared/crds beside the repository")


def _kubeflow(name: str) -> dict[str, Any]:
    crd = yaml.load((CRDS / name).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    spec: dict[str, Any] = schema["properties"]["spec"]["properties"]
    return spec


def _hyperpod() -> dict[str, Any]:
    definitions: dict[str, Any] = json.loads((CRDS / HYPERPOD).read_text(encoding="utf-8"))
    return definitions


@needs_crds
def test_members_of_kubeflow_jobs_are_those_of_the_crd() -> None:
    spec = _kubeflow(KUBEFLOW)
    replicas = spec["pytorchReplicaSpecs"]["additionalProperties"]["properties"]
    assert set(vocabulary.members("spec", "kubeflow")) == set(spec)
    for place in ("elasticPolicy", "runPolicy"):
        assert set(vocabulary.members(place, "kubeflow")) == set(spec[place]["properties"])
    assert set(vocabulary.members("replicas", "kubeflow")) == set(replicas)


@needs_crds
@pytest.mark.parametrize("name", OLDER)
def test_older_crds_know_no_more(name: str) -> None:
    spec = _kubeflow(name)
    for place in ("elasticPolicy", "runPolicy"):
        assert set(spec[place]["properties"]) <= set(vocabulary.members(place, "kubeflow"))


@needs_crds
@pytest.mark.parametrize("name", [KUBEFLOW, *OLDER])
def test_members_of_pods_and_containers_are_known(name: str) -> None:
    replicas = _kubeflow(name)["pytorchReplicaSpecs"]["additionalProperties"]["properties"]
    pod = replicas["template"]["properties"]["spec"]["properties"]
    assert set(pod) <= set(vocabulary.members("pod"))
    assert set(pod["containers"]["items"]["properties"]) <= set(vocabulary.members("container"))


@needs_crds
def test_members_of_hyperpod_jobs_are_those_of_its_model() -> None:
    schema = _hyperpod()
    definitions = schema["$defs"]
    assert set(vocabulary.members("spec", "hyperpod")) == set(schema["properties"])
    for place, definition in (
        ("elasticPolicy", "ElasticPolicy"),
        ("runPolicy", "RunPolicy"),
        ("replicas", "ReplicaSpec"),
        ("restartPolicy", "RestartPolicy"),
    ):
        assert set(vocabulary.members(place, "hyperpod")) == set(definitions[definition]["properties"])
    monitoring = set(definitions["LogMonitoringConfiguration"]["properties"])
    assert set(vocabulary.members("logMonitoringConfiguration", "hyperpod")) == monitoring | {"faultOnMatch"}


def test_names_of_other_tables_are_said_alike() -> None:
    assert OPERATORS["kubeflow"].replica_name in vocabulary.KUBEFLOW_REPLICAS
    assert vocabulary.TIERED_LOG_DIRECTORY.doubt
    assert set(vocabulary.POD_RESTART_POLICIES) < set(vocabulary.REPLICA_RESTART_POLICIES)
