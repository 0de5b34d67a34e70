"""Whatever a job says, it becomes objects that a server takes, or is refused in words: nothing else."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from generated_jobs import BASES, Document, jobs
from hypothesis import HealthCheck, event, example, given, settings
from kubernetes_schemas import needs_crds, refusals
from plain_jobs import SPOTLESS
from rendered_jobs import objects_of

from hyperpod_model.faults import Fault, InvalidInputError
from hyperpod_model.job_spec import JobSpec, load_job

pytestmark = needs_crds

EXAMPLES = int(os.environ.get("HYPERPOD_EXAMPLES", "120"))


def read(document: Document) -> JobSpec:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "job.yaml"
        file.write_text(json.dumps(document), encoding="utf-8")
        return load_job(file)


def attempt(document: Document) -> JobSpec | tuple[Fault, ...]:
    try:
        return read(document)
    except InvalidInputError as error:
        return error.faults


def check_taken(job: JobSpec) -> None:
    """Assert that a server takes all that is rendered, and reads what the job says."""
    objects = objects_of(job)
    found = {f"{body['kind']} {body['metadata']['name']}": refusals(body) for body in objects}
    assert {name: faults for name, faults in found.items() if faults} == {}
    identities = [(body["kind"], body["metadata"]["name"]) for body in objects]
    assert len(set(identities)) == len(identities)
    (body,) = (body for body in objects if body["kind"].endswith("Job"))
    container = container_of(body)
    assert {said["name"]: said["value"] for said in container["env"]} == job.environment_variables()
    launch = job.launch()
    assert (container["command"], container.get("args", [])) == ([*launch.command], [*launch.args])
    assert (
        container["resources"]["requests"] == container["resources"]["limits"] == job.resources().quantities()
    )


def container_of(body: dict[str, Any]) -> dict[str, Any]:
    spec = body["spec"]
    replicas = spec["pytorchReplicaSpecs"].values() if "pytorchReplicaSpecs" in spec else spec["replicaSpecs"]
    found: dict[str, Any] = next(iter(replicas))["template"]["spec"]["containers"][0]
    return found


def check_words(fault: Fault) -> None:
    """Assert that a refusal names a field and says something of it."""
    assert fault.path, fault
    assert fault.path[0] in JobSpec.model_fields, fault
    assert fault.message.strip(), fault
    assert "<known after deploy>" not in fault.message
    assert not fault.message.endswith("."), fault


@pytest.mark.parametrize("name", BASES)
def test_what_the_generator_starts_from_is_taken(name: str):
    document = {field: value for field, value in (SPOTLESS | BASES[name]).items() if value is not None}
    check_taken(read(document))


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(jobs())
@example(SPOTLESS | {"auto_resume": {"max_retries": 2**31 - 1}})
@example(SPOTLESS | {"nodes": 2**31})
def test_a_job_is_taken_or_refused_in_words(document: Document):
    read_or_refused = attempt(document)
    if isinstance(read_or_refused, JobSpec):
        event("taken")
        check_taken(read_or_refused)
    else:
        event("refused")
        assert read_or_refused
        for fault in read_or_refused:
            check_words(fault)
