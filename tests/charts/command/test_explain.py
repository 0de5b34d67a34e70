"""`hyperpod-jobs explain`: each value and why; fields in words."""

from __future__ import annotations

import pytest
import yaml

from hyperpod_model.catalog.instances import accelerated_instance_types
from hyperpod_model.job_spec import JobSpec, load_job


def _said(ran):
    return {
        (topic, reason["name"]): (reason["value"], reason["why"])
        for topic, reasons in ran.json.items()
        for reason in reasons
    }


def test_a_job_is_explained_in_words(save, run, job):
    ran = run("explain", save("job.yaml", job))
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[:3] == [
        "pods",
        "  kind: PyTorchJob of kubeflow.org/v1",
        "      operator is 'kubeflow', which runs these",
    ]
    at = lines.index("  vpc.amazonaws.com/efa: 32")
    assert lines[at + 1] == "      ml.p5.48xlarge has 32"


def test_values_are_those_of_the_manifests(save, run, folder, job):
    said = _said(run("explain", save("job.yaml", job), "--format", "json"))
    spec = load_job(folder / "job.yaml")
    for name, value in spec.resources().quantities().items():
        assert said["resources of a pod", name][0] == value
    for name, value in spec.environment_variables().items():
        assert said["environment", name][0] == value
    manifest = next(yaml.safe_load_all(run("render", "job.yaml").out))
    run_policy = manifest["spec"]["runPolicy"]
    for name in ("backoffLimit", "cleanPodPolicy", "ttlSecondsAfterFinished"):
        assert said["recovery", name][0] == str(run_policy[name])


def test_the_arithmetic_adds_up(save, run, job, cluster):
    cluster["tiered_checkpointing"] = {"memory_percentage": 20, "s3_interval_steps": 500}
    said = _said(
        run("explain", save("job.yaml", job), "--cluster", save("c.yaml", cluster), "--format", "json")
    )
    assert said["resources of a pod", "cpu"] == (
        "89",
        "96 with 1 thread a core, less 6.27 for the system",
    )
    assert said["resources of a pod", "memory"] == (
        "1470Gi",
        "2048 GiB less 157.7 for the system, 10.0 of huge pages, 410 for tiered checkpointing (20 percent)",
    )


def test_what_a_user_said_is_told_as_such(save, run, job):
    job |= {
        "vcpu": 40,
        "memory_gib": 500,
        "shared_memory_gib": 100,
        "efa_interfaces": 16,
        "huge_pages_mib": 1024,
        "processes_per_node": 4,
        "environment": {"NCCL_DEBUG": "WARN"},
        "clean_pod_policy": "None",
        "namespace": "hyperpod-vision",
        "tolerations": [{"key": "team"}],
        "node_selector": {"rack": "7"},
    }
    said = _said(run("explain", save("job.yaml", job), "--format", "json"))
    why = {name: reason[1] for (_, name), reason in said.items()}
    for name, field in {
        "cpu": "vcpu",
        "memory": "memory_gib",
        "/dev/shm": "shared_memory_gib",
        "vpc.amazonaws.com/efa": "efa_interfaces",
        "hugepages-2Mi": "huge_pages_mib",
        "nprocPerNode": "processes_per_node",
        "NCCL_DEBUG": "environment",
        "cleanPodPolicy": "clean_pod_policy",
        "toleration team": "tolerations",
        "node rack": "node_selector",
    }.items():
        assert why[name] == f"{field} says so"
    assert why["namespace"].startswith("namespace says so; HyperPod resumes")


@pytest.mark.parametrize("type_name", accelerated_instance_types())
def test_every_accelerated_type_can_be_explained(save, run, job, type_name):
    job |= {"instance_type": type_name}
    ran = run("explain", save("job.yaml", job), "--format", "json")
    assert ran.code == 0
    said = _said(ran)
    spec = JobSpec(**job)
    assert said["resources of a pod", "vpc.amazonaws.com/efa"][0] == str(spec.resources().efa_interfaces)
    assert all(value and why for value, why in said.values())


def test_a_flag_that_would_abort_is_explained_by_its_absence(save, run, job):
    job["instance_type"] = "ml.g5.48xlarge"
    said = _said(run("explain", save("job.yaml", job), "--format", "json"))
    value, why = said["environment", "FI_EFA_USE_DEVICE_RDMA"]
    assert (value, "aborts there" in why) == ("left out", True)


def test_a_job_of_the_hyperpod_operator(save, run, job):
    job |= {
        "operator": "hyperpod",
        "team": "vision",
        "checkpoint": {"s3_uri": "s3://sagemaker-vision/a", "s3_interval_steps": 500},
        "checkpointless": {
            "tier": 4,
            "framework": "Nemo",
            "data_format": "ARROW",
            "package_version": "1.0.1",
            "distributed_optimizer_instances": 2,
        },
        "operator_version": "1.2.0",
        "python_version": "3.12",
    }
    said = _said(run("explain", save("job.yaml", job), "--format", "json"))
    assert said["pods", "queue"][0] == "kueue.x-k8s.io/queue-name=hyperpod-ns-vision-localqueue"
    assert said["recovery", "checkpointless"][0] == "tier 4"
    assert said["recovery", "durable checkpoints"][0] == "s3://sagemaker-vision/a every 500 steps"
    assert said["pods", "network"][0] == "that of the node"
    assert ("processes", "--inprocess-restart") in said


def test_a_wrong_job_is_not_explained(save, run, job):
    job["nodes"] = 0
    ran = run("explain", save("job.yaml", job))
    assert (ran.code, ran.out) == (1, "")
    assert "error: nodes: must be 1 or more" in ran.err


def test_a_job_that_does_not_fit_its_cluster_is_explained_and_refused(save, run, job, cluster):
    cluster["instance_groups"][0]["instance_count"] = 1
    ran = run("explain", save("job.yaml", job), "--cluster", save("c.yaml", cluster))
    assert (ran.code, ran.out.partition("\n")[0]) == (1, "pods")
    assert "error: nodes: must be at most 1" in ran.err


@pytest.mark.parametrize("name", JobSpec.model_fields)
def test_every_field_is_explained(run, name):
    ran = run("explain", name)
    assert ran.code == 0
    assert ran.out.startswith(name)
    assert JobSpec.model_fields[name].description in ran.out


def test_fields_within_fields(run):
    assert "step_nodes" in run("explain", "elastic").out
    ran = run("explain", "persistent_volume_claims.claim_name")
    assert ran.out == "persistent_volume_claims.claim_name (required)\n  Name of the PersistentVolumeClaim.\n"
    assert run("explain", "nodes", "--format", "json").json["minimum"] == 1


@pytest.mark.parametrize(
    ("subject", "message"),
    [
        ("node", "'node' is neither a file nor a field; did you mean nodes?"),
        ("elastic.step", "did you mean elastic.step_nodes? fields of elastic: min_nodes, max_nodes"),
        ("nodes.most", "'nodes.most' is no field: what stands before 'most' has none"),
        ("no/such/job", "no/such/job: is not there"),
        ("job.yaml", "job.yaml: is not there"),
    ],
)
def test_what_is_neither_a_job_nor_a_field(run, subject, message):
    ran = run("explain", subject)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
