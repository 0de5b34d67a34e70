"""Environment, command, placement and marks of a job."""

from __future__ import annotations

from typing import Any

import pytest
from plain_jobs import (
    CHECKPOINTLESS,
    DURABLE,
    ELASTIC,
    HYPERPOD,
    HYPERPOD_ELASTIC,
    SPOTLESS,
    TIERED,
    WITH_CHECKPOINTLESS,
)

from hyperpod_model.catalog.instances import accelerated_instance_types, instance_type
from hyperpod_model.job_spec import JobSpec, TolerationSpec


def job(**changes: Any) -> JobSpec:
    return JobSpec.model_validate(SPOTLESS | changes)


@pytest.mark.parametrize("name", accelerated_instance_types())
def test_efa_is_asked_of_libfabric_where_the_pods_have_it(name: str) -> None:
    known = instance_type(name)
    variables = job(instance_type=name).environment_variables()
    has_efa = known.efa_interfaces.if_certain(0) > 0
    assert (variables.get("FI_PROVIDER") == "efa") == has_efa
    assert ("FI_EFA_USE_DEVICE_RDMA" in variables) == (has_efa and known.rdma_read)
    assert ("NCCL_SOCKET_IFNAME" in variables) == (
        known.accelerator is not None and known.accelerator.kind == "gpu"
    )
    assert all(isinstance(value, str) for value in variables.values())


@pytest.mark.parametrize("name", ["ml.g5.12xlarge", "ml.g5.48xlarge", "ml.g4dn.12xlarge"])
def test_the_flag_that_aborts_processes_is_never_set_there(name: str) -> None:
    asked = job(instance_type=name, efa_interfaces=1)
    assert "FI_EFA_USE_DEVICE_RDMA" not in asked.environment_variables()
    assert asked.environment_variables()["FI_PROVIDER"] == "efa"


def test_trainium_speaks_of_its_own_interface() -> None:
    variables = job(instance_type="ml.trn1.32xlarge").environment_variables()
    assert variables["CCOM_SOCKET_IFNAME"] == "eth0"
    assert variables["FI_EFA_FORK_SAFE"] == "1"
    assert not any(name.startswith("NCCL") for name in variables)


def test_in_the_network_of_the_host_other_interfaces_are_left_out() -> None:
    assert job().environment_variables()["NCCL_SOCKET_IFNAME"] == "^lo,docker"
    variables = job(host_network=True).environment_variables()
    assert variables["NCCL_SOCKET_IFNAME"] == "^lo,docker,veth,eni"
    trainium = job(host_network=True, instance_type="ml.trn1.32xlarge")
    assert "CCOM_SOCKET_IFNAME" not in trainium.environment_variables()


def test_what_the_user_says_wins() -> None:
    variables = job(environment={"NCCL_DEBUG": "WARN", "HF_HOME": "/fsx/hf"}).environment_variables()
    assert (variables["NCCL_DEBUG"], variables["HF_HOME"]) == ("WARN", "/fsx/hf")


def test_without_efa_nothing_is_said_of_it() -> None:
    variables = job(efa_interfaces=0, nodes=1).environment_variables()
    assert not any(name.startswith("FI_") for name in variables)


def test_checkpoints_are_told_to_the_training_code() -> None:
    variables = job(tiered_checkpointing=TIERED, checkpoint=DURABLE).environment_variables()
    assert {name: value for name, value in variables.items() if "CHECKPOINT" in name or "JOB" in name} == {
        "CHECKPOINT_PATH": "/fsx/a",
        "CHECKPOINT_S3_URI": "s3://bucket/a",
        "CHECKPOINT_S3_INTERVAL_STEPS": "500",
        "CHECKPOINT_MEMORY_INTERVAL_STEPS": "50",
        "TRAINING_JOB_NAME": "llama",
    }


def test_launchers_wait_almost_as_long_as_the_pod() -> None:
    kubeflow = job(grace_period_seconds=300)
    assert kubeflow.environment_variables()["TORCH_ELASTIC_SHUTDOWN_TIMEOUT"] == "290"
    hyperpod = job(**HYPERPOD, grace_period_seconds=300)
    assert "--shutdown-timeout=290" in hyperpod.launch().command
    assert "TORCH_ELASTIC_SHUTDOWN_TIMEOUT" not in hyperpod.environment_variables()


def test_a_kubeflow_job_is_plain_torchrun() -> None:
    launch = job(script_args=["--a", "b c"]).launch()
    assert launch.command == ("torchrun",)
    assert launch.args == ("/workspace/train.py", "--a", "b c")


def test_a_hyperpod_job_ends_its_processes_with_sigterm_first() -> None:
    assert job(**HYPERPOD).launch().command == (
        "hyperpodrun",
        "--nproc-per-node=8",
        "--shutdown-signal=SIGTERM",
        "--shutdown-timeout=110",
    )


RULES = [{"name": "hang", "pattern": ".*step", "repeats_within_seconds": 60}]


@pytest.mark.parametrize(
    ("environment", "options"),
    [
        ({}, ["--tee=0:1"]),
        ({"PET_TEE": "2"}, ["--tee=0:1"]),
        ({"PET_TEE": "3"}, []),
        ({"PET_REDIRECTS": "0:3"}, []),
    ],
)
def test_a_log_with_rules_is_kept_where_the_agent_reads_it(
    environment: dict[str, str], options: list[str]
) -> None:
    plain = job(**HYPERPOD).launch().command
    watched = job(**HYPERPOD, log_monitoring=RULES, environment=environment).launch().command
    assert list(watched) == [*plain, *options]


def test_an_own_command_is_taken_as_it_is() -> None:
    launch = job(script=None, command=["python", "-m", "train"]).launch()
    assert (launch.command, launch.args) == (("python", "-m", "train"), ())


@pytest.mark.parametrize(("tier", "in_place"), [(1, False), (2, False), (3, True), (4, True)])
def test_tiers_of_checkpointless_training(tier: int, in_place: bool) -> None:
    said = CHECKPOINTLESS | {"tier": tier, "distributed_optimizer_instances": 2}
    asked = job(**WITH_CHECKPOINTLESS | {"checkpointless": said})
    assert asked.uses_host_network
    assert asked.environment_variables()["HPCT_USE_ROOTLESS"] == "1"
    assert ("--inprocess-restart" in asked.launch().command) == in_place


def test_elastic_jobs_of_the_operator_coordinate_their_signal() -> None:
    assert job(**HYPERPOD_ELASTIC).environment_variables()["HYPERPOD_SIGNAL_COORDINATION"] == "distributed"
    for other in (job(**HYPERPOD), job(**ELASTIC)):
        assert "HYPERPOD_SIGNAL_COORDINATION" not in other.environment_variables()


def test_pods_that_join_an_elastic_job_of_torchrun_are_told_where_processes_meet() -> None:
    assert job(**ELASTIC).environment_variables()["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"] == "1"
    for other in (job(), job(**HYPERPOD_ELASTIC)):
        assert "TORCH_DISABLE_SHARE_RDZV_TCP_STORE" not in other.environment_variables()


def test_nodes_are_healthy_ones_of_the_type() -> None:
    placement = job(deep_health_checked=True, node_selector={"team": "a"}).placement()
    assert placement.node_selector == {
        "node.kubernetes.io/instance-type": "ml.p5.48xlarge",
        "sagemaker.amazonaws.com/node-health-status": "Schedulable",
        "sagemaker.amazonaws.com/deep-health-check-status": "Passed",
        "team": "a",
    }
    assert "sagemaker.amazonaws.com/deep-health-check-status" not in job().placement().node_selector


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("ml.p5.48xlarge", ["nvidia.com/gpu", "team"]),
        ("ml.trn1.32xlarge", ["aws.amazon.com/neuron", "team"]),
        ("ml.c5.4xlarge", ["team"]),
    ],
)
def test_taints_of_accelerators_are_tolerated(name: str, keys: list[str]) -> None:
    placement = job(instance_type=name, tolerations=[{"key": "team"}]).placement()
    assert [said.key for said in placement.tolerations] == keys


def test_a_toleration_of_the_user_for_accelerators_wins() -> None:
    said = TolerationSpec(key="nvidia.com/gpu", operator="Equal", value="present")
    assert job(tolerations=[said]).placement().tolerations == (said,)


def test_topology_is_the_queues_business_where_there_is_one() -> None:
    topology = {"layer": 3, "required": True}
    label = "topology.k8s.aws/network-node-layer-3"
    alone = job(topology=topology)
    assert (alone.placement().topology_key, alone.placement().topology_required) == (label, True)
    assert alone.annotations_of_pods() == {}
    queued = job(topology=topology, team="research")
    assert queued.placement().topology_key is None
    assert queued.annotations_of_pods() == {"kueue.x-k8s.io/podset-required-topology": label}
    preferred = job(topology={"layer": 1}, team="research")
    assert list(preferred.annotations_of_pods()) == ["kueue.x-k8s.io/podset-preferred-topology"]


def test_labels_of_a_queued_job() -> None:
    queued = job(team="research", priority_class="high", labels={"cost": "a"})
    assert queued.labels_of_job() == {
        "cost": "a",
        "kueue.x-k8s.io/queue-name": "hyperpod-ns-research-localqueue",
        "kueue.x-k8s.io/priority-class": "high-priority",
    }
    assert queued.resolved_namespace == "hyperpod-ns-research"
    assert job().labels_of_job() == {}


def test_auto_resume_is_asked_in_text_and_with_a_limit() -> None:
    assert job(auto_resume={"max_retries": 3}).annotations_of_job() == {
        "sagemaker.amazonaws.com/enable-job-auto-resume": "true",
        "sagemaker.amazonaws.com/job-max-retry-count": "3",
    }
    assert job(auto_resume=None).annotations_of_job() == {}
    assert job(**HYPERPOD).annotations_of_job() == {}


def test_a_fault_restarts_the_containers_of_every_node() -> None:
    assert job(auto_resume={"max_retries": 3}, nodes=16).backoff_limit == 48
    assert job(auto_resume=None).backoff_limit == 0


@pytest.mark.parametrize(
    ("changes", "policy"),
    [({}, "Running"), (HYPERPOD, "None"), ({"clean_pod_policy": "All"}, "All")],
)
def test_policy_for_pods(changes: dict[str, Any], policy: str) -> None:
    assert job(**changes).resolved_clean_pod_policy == policy


def test_other_defaults() -> None:
    assert job().resolved_rendezvous_id == "llama"
    assert job(rendezvous_id="run-7").resolved_rendezvous_id == "run-7"
    assert job().resolved_tiered_namespace is None
    assert (job(**ELASTIC).min_nodes, job(**ELASTIC).max_nodes) == (2, 8)
    assert not job().uses_host_network
    assert not job().uses_kueue
