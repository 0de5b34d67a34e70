from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st
from plain_jobs import SPOTLESS, plain_job
from pydantic import ValidationError

from hyperpod_model.catalog.instances import instance_type, instance_types
from hyperpod_model.checks.jobs.job import check_job
from hyperpod_model.faults import UNKNOWN, Fault, InvalidInputError
from hyperpod_model.job_spec import JobSpec, LoadedJob, load_job
from hyperpod_model.job_spec.names_elsewhere import NAMES_ELSEWHERE
from hyperpod_model.pod_resources import node_accelerators

Read = Callable[[str], LoadedJob]
FaultsIn = Callable[[str], tuple[Fault, ...]]

SMALL = """\
name: llama-ddp
image: 111122223333.dkr.ecr.us-west-2.amazonaws.com/ddp-pretrain:1.4.0
instance_type: ml.p5.48xlarge
nodes: 2
script: /workspace/train_ddp.py
service_account: trainer
persistent_volume_claims:
  - {claim_name: fsx, mount_path: /fsx}
checkpoint: {path: /fsx/checkpoints/llama-ddp}
"""


def test_a_small_file_is_a_job_without_findings(read: Read) -> None:
    loaded = read(SMALL)
    assert loaded.findings == ()
    assert loaded.spec.resolved_namespace == "kubeflow"
    assert (loaded.spec.min_nodes, loaded.spec.max_nodes) == (2, 2)


def test_findings_have_lines(read: Read) -> None:
    [finding] = read(SMALL + "efa_interfaces: 1\n").findings
    assert str(finding).startswith("efa_interfaces (line 10): are 32 in ml.p5.48xlarge, got 1")


def test_all_faults_come_together_with_lines(faults_in: FaultsIn) -> None:
    text = SMALL.replace("nodes: 2", "nodes: '2'").replace("ml.p5", "ml.p55").replace(":1.4.0", ":latest")
    assert [str(fault) for fault in faults_in(text)] == [
        "image (line 2): must not have the tag 'latest', which changes under a job; pin a version",
        "instance_type (line 3): must be an instance type of HyperPod, got 'ml.p55.48xlarge'; did you mean "
        "ml.p5.48xlarge or ml.p5e.48xlarge or ml.p5.4xlarge",
        "nodes (line 4): must be a whole number, got '2'; write it without quotes",
    ]


@pytest.mark.parametrize(("word", "field"), sorted(NAMES_ELSEWHERE.items(), key=str))
def test_words_of_other_tools_are_known(faults_in: FaultsIn, word: str, field: str | None) -> None:
    said = yaml.safe_load(SMALL)
    said.pop(field, None)
    faults = faults_in(yaml.safe_dump(said | {word: 1}))
    [message] = [fault.message for fault in faults if fault.path == (word,)]
    meant = "fields are name, operator, " if field is None else f"did you mean {field!r}"
    assert message.startswith(f"is no field here; {meant}")
    assert field is None or field in JobSpec.model_fields


def test_a_word_of_another_tool_beside_the_field_is_one_too_many(faults_in: FaultsIn) -> None:
    [fault] = faults_in(SMALL + "replicas: 2\n")
    assert fault.message.startswith("is no field here; fields are name, operator, ")


def test_a_word_of_another_tool_stands_for_the_field_that_is_missing(faults_in: FaultsIn) -> None:
    [fault] = faults_in(SMALL.replace("nodes: 2", "replicas: 2"))
    assert fault.message == "is no field here; did you mean 'nodes'"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty; describe a job"),
        ("- a\n", "must be a mapping of fields at the top"),
        (SMALL + "---\nname: b\n", "keep one job in a file"),
        (SMALL.replace("nodes", "node"), "did you mean 'nodes'"),
        (SMALL + "name: b\n", "is given twice, first on line 1"),
        ("apiVersion: kubeflow.org/v1\nkind: PyTorchJob\n", "is a Kubernetes manifest, 'PyTorchJob'"),
        (SMALL + "operator: kubflow\n", "did you mean 'kubeflow'"),
        (SMALL + "checkpointless: {tier: 7}\n", "must be one of 1, 2, 3, 4, got the number 7"),
        (SMALL + "environment: {A: 1}\n", "must be text, got the number 1; put it in quotes: write '1'"),
    ],
)
def test_is_refused_in_words(faults_in: FaultsIn, text: str, message: str) -> None:
    assert any(message in fault.message for fault in faults_in(text)), faults_in(text)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="there is no job file"):
        load_job(tmp_path / "none.yaml")
    with pytest.raises(InvalidInputError, match="is a folder"):
        load_job(tmp_path)


def test_in_python_a_wrong_job_is_refused_too() -> None:
    with pytest.raises(ValidationError, match="must not have the tag 'latest'"):
        JobSpec.model_validate(SPOTLESS | {"image": "registry.example.com/a:latest"})


def test_a_job_does_not_change() -> None:
    job = JobSpec.model_validate(SPOTLESS)
    with pytest.raises(ValidationError):
        job.nodes = 3  # type: ignore[misc]


@pytest.mark.parametrize("field", JobSpec.model_fields)
def test_any_field_may_be_known_only_later(field: str) -> None:
    found = check_job(plain_job(**{field: UNKNOWN}))
    assert [fault for fault in found if fault.path[:1] == (field,)] == []


_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 10) | st.text(max_size=4) | st.just(UNKNOWN),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["path", "key", "x"]), inner),
    max_leaves=4,
)


@given(changes=st.dictionaries(st.sampled_from(sorted(JobSpec.model_fields)), _ANYTHING, max_size=4))
def test_whatever_fields_hold_is_accepted_or_refused_and_nothing_else(changes: dict[str, Any]) -> None:
    with contextlib.suppress(ValidationError):
        JobSpec.model_validate(SPOTLESS | changes)


@given(
    name=st.sampled_from(sorted(instance_types())),
    nodes=st.integers(1, 40),
    changes=st.fixed_dictionaries(
        {},
        optional={
            "accelerators": st.integers(1, 16),
            "efa_interfaces": st.integers(0, 33),
            "memory_gib": st.integers(1, 2048),
            "vcpu": st.integers(1, 192),
            "host_network": st.booleans(),
            "deep_health_checked": st.booleans(),
            "team": st.sampled_from(["a", "research"]),
            "topology": st.sampled_from([{"layer": 1}, {"layer": 3, "required": True}]),
        },
    ),
)
def test_a_job_that_is_accepted_fits_on_its_nodes(name: str, nodes: int, changes: dict[str, Any]) -> None:
    try:
        job = JobSpec.model_validate(SPOTLESS | {"instance_type": name, "nodes": nodes} | changes)
    except ValidationError:
        assume(False)
    known, asked = instance_type(name), job.resources()
    assert asked.accelerators <= node_accelerators(known)
    assert asked.efa_interfaces <= known.efa_interfaces.if_certain(33)
    assert asked.vcpu <= known.vcpu
    assert asked.memory_gib <= known.memory_gib
    assert asked.shared_memory_gib <= asked.memory_gib
    assert job.placement().node_selector["node.kubernetes.io/instance-type"] == name
    assert ("FI_PROVIDER" in job.environment_variables()) == (asked.efa_interfaces > 0)
