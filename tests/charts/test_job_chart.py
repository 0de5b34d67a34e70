"""Job specifications as Kubernetes objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from cdk8s import App
from charted import TOKEN, job_spec
from plain_jobs import (
    DURABLE,
    ELASTIC,
    HYPERPOD,
    HYPERPOD_ELASTIC,
    TIERED,
    WITH_CHECKPOINTLESS,
)

from hyperpod_charts import JobChart
from hyperpod_model.catalog.instances import accelerated_instance_types
from hyperpod_model.faults import InvalidInputError
from hyperpod_model.job_spec import JobSpec, NodeSetup
from hyperpod_policy.manifests import manifests_of
from hyperpod_policy.registry import MANIFEST_RULES
from hyperpod_policy.review_sources import review_manifests

TEAM = {"team": "research", "namespace": "hyperpod-ns-research"}
JOBS: Mapping[str, Mapping[str, Any]] = {
    "fixed": {},
    "master": {"rendezvous": "master"},
    "elastic": ELASTIC,
    "team": {"team": "research", "priority_class": "training"},
    "topology": {"topology": {"layer": 3, "required": True}},
    "topology in a queue": {"team": "research", "topology": {"layer": 2}},
    "partitions": {"nodes": 1, "gpu_partition": "mig-1g.10gb", "accelerators": 2},
    "trainium": {"instance_type": "ml.trn1.32xlarge"},
    "own command": {"script": None, "command": ["python", "-m", "train"]},
    "tiered": {"tiered_checkpointing": TIERED, "checkpoint": DURABLE},
    "hyperpod": HYPERPOD,
    "hyperpod elastic": HYPERPOD_ELASTIC,
    "spares": HYPERPOD | TEAM | {"spares": 1},
    "checkpointless": WITH_CHECKPOINTLESS,
    "hyperpod tiered": HYPERPOD | {"tiered_checkpointing": TIERED, "checkpoint": DURABLE},
}


def objects(job: JobSpec, **options: Any) -> dict[str, dict[str, Any]]:
    """Objects of a job by kind."""
    made = JobChart(App(), "Job", job=job, **options).to_json()
    return {found["kind"]: found for found in made}


def job_object(**changes: Any) -> dict[str, Any]:
    made = objects(job_spec(**changes))
    return made["HyperPodPyTorchJob" if changes.get("operator") == "hyperpod" else "PyTorchJob"]


def pod_of(made: dict[str, Any]) -> dict[str, Any]:
    if made["kind"] == "PyTorchJob":
        return dict(made["spec"]["pytorchReplicaSpecs"]["Worker"]["template"])
    return dict(made["spec"]["replicaSpecs"][0]["template"])


def container_of(made: dict[str, Any]) -> dict[str, Any]:
    return dict(pod_of(made)["spec"]["containers"][0])


def test_a_job_is_a_job_with_its_network_policy():
    assert objects(job_spec()).keys() == {"PyTorchJob", "NetworkPolicy"}


def test_an_elastic_job_has_a_disruption_budget_as_well():
    made = objects(job_spec(**ELASTIC))
    assert made.keys() == {"PyTorchJob", "NetworkPolicy", "PodDisruptionBudget"}
    assert made["PodDisruptionBudget"]["spec"]["minAvailable"] == 2


def test_torchrun_restarts_the_processes_of_an_elastic_job_alone():
    """Those of the pods that stay fail when a pod goes; without a restart their pods would go as well."""
    resume = {"max_retries": 4}
    assert job_object(**ELASTIC, auto_resume=resume)["spec"]["elasticPolicy"]["maxRestarts"] == 4
    assert "maxRestarts" not in job_object(auto_resume=resume)["spec"]["elasticPolicy"]


def test_an_elastic_job_of_one_size_has_no_disruption_budget():
    """It would block each drain until the job is over."""
    made = objects(job_spec(nodes=None, elastic={"min_nodes": 2, "max_nodes": 2}))
    assert "PodDisruptionBudget" not in made


@pytest.mark.parametrize("changes", [{"host_network": True}, WITH_CHECKPOINTLESS])
def test_a_job_in_the_network_of_the_nodes_has_no_policy(changes: dict[str, Any]):
    assert "NetworkPolicy" not in objects(job_spec(**changes))


def test_the_policy_can_be_left_out():
    assert objects(job_spec(), network_policy=False).keys() == {"PyTorchJob"}


@pytest.mark.parametrize(("operator", "rules"), [({}, 1), (HYPERPOD, 2)])
def test_the_operator_gets_in_where_it_has_an_agent(operator: dict[str, Any], rules: int):
    policy = objects(job_spec(**operator))["NetworkPolicy"]
    assert len(policy["spec"]["ingress"]) == rules


@pytest.mark.parametrize("changes", JOBS.values(), ids=JOBS)
def test_policy_and_budget_select_the_pods_of_the_job(changes: dict[str, Any]):
    made = objects(job_spec(**changes))
    job = made.pop("PyTorchJob", None) or made.pop("HyperPodPyTorchJob")
    labels = pod_of(job)["metadata"]["labels"]
    for found in made.values():
        selector = found["spec"].get("podSelector") or found["spec"]["selector"]
        assert selector["matchLabels"].items() <= labels.items()
        assert found["metadata"]["namespace"] == job["metadata"]["namespace"]


@pytest.mark.parametrize("changes", JOBS.values(), ids=JOBS)
def test_what_the_specification_works_out_is_in_the_pods(changes: dict[str, Any]):
    job = job_spec(**changes)
    made = job_object(**changes)
    container, spec = container_of(made), pod_of(made)["spec"]
    launch, resources, placement = job.launch(), job.resources(), job.placement()
    assert tuple(container.get("command", ())) == launch.command
    assert tuple(container.get("args", ())) == launch.args
    assert made["spec"]["nprocPerNode"] == launch.nproc_per_node
    assert container["resources"] == {
        "requests": resources.quantities(),
        "limits": resources.quantities(),
    }
    assert {said["name"]: said["value"] for said in container["env"]} == job.environment_variables()
    assert spec["nodeSelector"] == placement.node_selector
    assert [said["key"] for said in spec.get("tolerations", ())] == [
        said.key for said in placement.tolerations
    ]
    assert spec["terminationGracePeriodSeconds"] == job.grace_period_seconds
    assert spec["serviceAccountName"] == "trainer"
    assert container["image"] == job.image
    assert made["metadata"].get("labels", {}) == job.labels_of_job()
    assert made["metadata"].get("annotations", {}) == job.annotations_of_job()
    assert pod_of(made)["metadata"].get("annotations", {}) == job.annotations_of_pods()
    assert made["metadata"]["namespace"] == job.resolved_namespace


@pytest.mark.parametrize("changes", JOBS.values(), ids=JOBS)
def test_shared_memory_has_a_size_and_every_claim_is_mounted(changes: dict[str, Any]):
    job = job_spec(**changes)
    made = job_object(**changes)
    volumes = {volume["name"]: volume for volume in pod_of(made)["spec"]["volumes"]}
    mounts = {mount["mountPath"]: mount["name"] for mount in container_of(made)["volumeMounts"]}
    assert volumes[mounts["/dev/shm"]]["emptyDir"] == {
        "medium": "Memory",
        "sizeLimit": f"{job.resources().shared_memory_gib}Gi",
    }
    assert volumes[mounts["/fsx"]]["persistentVolumeClaim"] == {"claimName": "fsx"}
    assert set(mounts.values()) == volumes.keys()


@pytest.mark.parametrize("changes", JOBS.values(), ids=JOBS)
def test_our_own_rules_find_no_error_in_what_we_render(changes: dict[str, Any]):
    manifests = [found for body in objects(job_spec(**changes)).values() for found in manifests_of(body)]
    report = review_manifests(manifests, rules=MANIFEST_RULES)
    wrong = [finding for finding in report.findings if finding.outcome == "fail"]
    assert [finding for finding in wrong if finding.severity in ("error", "warning")] == []


@pytest.mark.parametrize("instance_type", accelerated_instance_types())
def test_every_accelerated_type_is_asked_for_as_a_whole(instance_type: str):
    changes: dict[str, Any] = {"instance_type": instance_type}
    resources = job_spec(**changes).resources()
    requests = container_of(job_object(**changes))["resources"]["requests"]
    assert requests[resources.accelerator_resource] == str(resources.accelerators)
    assert requests.get("vpc.amazonaws.com/efa", "0") == str(resources.efa_interfaces)


def test_the_setup_of_the_nodes_changes_what_pods_ask_for():
    job = job_spec()
    node = NodeSetup(threads_per_core=2, tiered_memory_percentage=50)
    asked = container_of(objects(job, node=node)["PyTorchJob"])["resources"]["requests"]
    assert asked == job.resources(node).quantities()
    assert asked != job.resources().quantities()


def test_labels_of_the_job_are_on_its_pods():
    made = job_object(labels={"cost-center": "7"})
    assert pod_of(made)["metadata"]["labels"] == {
        "cost-center": "7",
        "app.kubernetes.io/instance": "llama",
        "app.kubernetes.io/component": "training",
    }


def test_a_job_that_does_not_resume_fails_at_once():
    spec = job_object(auto_resume=None)["spec"]
    assert spec["runPolicy"]["backoffLimit"] == 0
    assert spec["pytorchReplicaSpecs"]["Worker"]["restartPolicy"] == "Never"
    spec = job_object(auto_resume=None, **HYPERPOD)["spec"]
    assert spec["runPolicy"]["jobMaxRetryCount"] == 0
    assert spec["runPolicy"]["restartPolicy"] == {
        "evalPeriodSeconds": 3600,
        "numRestartBeforeFullJobRestart": 0,
        "maxFullJobRestarts": 0,
    }


def test_a_job_that_resumes():
    resume = {"max_retries": 4, "evaluation_period_seconds": 60, "restarts_before_full_restart": 2}
    spec = job_object(auto_resume={"max_retries": 4})["spec"]
    assert spec["runPolicy"]["backoffLimit"] == 4 * 2
    assert spec["pytorchReplicaSpecs"]["Worker"]["restartPolicy"] == "OnFailure"
    policy = job_object(auto_resume=resume, **HYPERPOD)["spec"]["runPolicy"]
    assert policy["jobMaxRetryCount"] == 4
    assert policy["restartPolicy"] == {
        "evalPeriodSeconds": 60,
        "numRestartBeforeFullJobRestart": 2,
        "maxFullJobRestarts": 4,
    }
    resume["max_full_restarts"] = 0
    policy = job_object(auto_resume=resume, **HYPERPOD)["spec"]["runPolicy"]
    assert policy["restartPolicy"]["maxFullJobRestarts"] == 0


def test_an_elastic_hyperpod_job():
    elastic = {
        "min_nodes": 2,
        "max_nodes": 8,
        "allowed_nodes": [2, 4, 8],
        "scaling_timeout_seconds": 60,
        "graceful_shutdown_timeout_seconds": 90,
        "faulty_scale_down_timeout_seconds": 30,
        "scale_up_snooze_seconds": 600,
    }
    spec = job_object(**HYPERPOD, nodes=None, elastic=elastic)["spec"]
    assert spec["elasticPolicy"] == {
        "minReplicas": 2,
        "maxReplicas": 8,
        "replicaDiscreteValues": [2, 4, 8],
        "scalingTimeoutInSeconds": 60,
        "gracefulShutdownTimeoutInSeconds": 90,
        "faultyScaleDownTimeoutInSeconds": 30,
    }
    assert spec["runPolicy"]["restartPolicy"]["scaleUpSnoozeTimeInSeconds"] == 600


def test_log_monitoring_rules():
    rule = {
        "name": "slow",
        "pattern": "took ([0-9]+)",
        "starts_within_seconds": 600,
        "repeats_within_seconds": 300,
        "threshold": 2,
        "comparison": "gt",
        "data_points": 5,
        "stop_pattern": "done",
    }
    spec = job_object(**HYPERPOD, log_monitoring=[rule])["spec"]
    assert spec["runPolicy"]["logMonitoringConfiguration"] == [
        {
            "name": "slow",
            "logPattern": "took ([0-9]+)",
            "expectedStartCutOffInSeconds": 600,
            "expectedRecurringFrequencyInSeconds": 300,
            "operator": "gt",
            "metricThreshold": 2,
            "metricEvaluationDataPoints": 5,
            "stopPattern": "done",
        }
    ]


def test_a_checkpointless_job_is_where_it_can_recover_from_peers():
    made = job_object(**WITH_CHECKPOINTLESS)
    spec = pod_of(made)["spec"]
    assert spec["hostNetwork"] is True
    assert spec["dnsPolicy"] == "ClusterFirstWithHostNet"
    assert [port["containerPort"] for port in container_of(made)["ports"]] == [8080, *range(9000, 9006)]
    assert "sysctls" not in spec.get("securityContext", {})
    assert spec["initContainers"][0]["command"][-1] == "net.ipv4.ip_local_port_range=20000 65535"


def test_other_jobs_run_nothing_with_privileges():
    for name, changes in JOBS.items():
        if name != "checkpointless":
            assert "initContainers" not in pod_of(job_object(**changes))["spec"], name


def test_a_tiered_job_leaves_its_logs_on_the_node():
    made = job_object(**JOBS["tiered"])
    (volume,) = (found for found in pod_of(made)["spec"]["volumes"] if "hostPath" in found)
    assert volume["hostPath"] == {
        "path": "/var/logs/sagemaker_checkpointing",
        "type": "DirectoryOrCreate",
    }
    assert {"name": volume["name"], "mountPath": "/var/log/sagemaker_checkpointing"} in container_of(made)[
        "volumeMounts"
    ]


def test_no_other_job_mounts_a_folder_of_the_node():
    for name, changes in JOBS.items():
        if "tiered" not in name:
            assert not any("hostPath" in found for found in pod_of(job_object(**changes))["spec"]["volumes"])


def test_a_read_only_claim():
    claims = [
        {"claim_name": "fsx", "mount_path": "/fsx"},
        {"claim_name": "data", "mount_path": "/data", "read_only": True},
    ]
    mounts = container_of(job_object(persistent_volume_claims=claims))["volumeMounts"]
    assert {"name": "data", "mountPath": "/data", "readOnly": True} in mounts
    assert {"name": "fsx", "mountPath": "/fsx"} in mounts


def test_policies_of_a_finished_job():
    changes: dict[str, Any] = {
        "clean_pod_policy": "All",
        "ttl_seconds_after_finished": 0,
        "active_deadline_seconds": 60,
    }
    policy = job_object(**changes)["spec"]["runPolicy"]
    assert (policy["cleanPodPolicy"], policy["ttlSecondsAfterFinished"]) == ("All", 0)
    assert policy["activeDeadlineSeconds"] == 60
    policy = job_object(**HYPERPOD, **changes)["spec"]["runPolicy"]
    assert (policy["cleanPodPolicy"], policy["ttlSecondsAfterFinished"]) == ("All", 0)
    assert policy["activeDeadlineSeconds"] == 60


def test_values_of_the_cdk_come_through():
    made = job_object(image=TOKEN, script_args=["--bucket", TOKEN], environment={"BUCKET": TOKEN})
    container = container_of(made)
    assert container["image"] == TOKEN
    assert container["args"][-1] == TOKEN
    assert {"name": "BUCKET", "value": TOKEN} in container["env"]


def test_what_is_no_specification_is_refused():
    said: Any = {"name": "llama"}
    with pytest.raises(InvalidInputError, match=r"JobChart: job: must be a JobSpec, got \{.*write JobSpec\("):
        JobChart(App(), "Job", job=said)
