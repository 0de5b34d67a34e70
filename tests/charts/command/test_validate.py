"""`hyperpod-jobs validate`: jobs and manifests, as `hyperpod-review` reports."""

from __future__ import annotations

import json

import pytest
import yaml
from job_manifests import hyperpod_job, kubeflow_job, put

from hyperpod_charts.command.job_findings import SPECIFICATION
from hyperpod_charts.command.manifests_on_cluster import RULE_ID
from hyperpod_policy.command import main as review


def test_a_sound_job_is_clean(save, run, job):
    ran = run("validate", save("job.yaml", job))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "no findings; 1 promise kept (1 job specification by 1 rule)\n"


def test_a_wrong_job_has_findings_with_lines(save, run, job):
    job["nodes"] = 0
    job["image"] += "-x:latest"
    ran = run("validate", save("job.yaml", yaml.safe_dump(job)), "--format", "json")
    assert ran.code == 1
    assert ran.json["summary"]["jobs"] == 1
    places = {(finding["path"], finding["line"]) for finding in ran.json["findings"]}
    lines = yaml.safe_dump(job).splitlines()
    assert ("nodes", lines.index("nodes: 0") + 1) in places
    assert {finding["rule_id"] for finding in ran.json["findings"]} == {SPECIFICATION.id}
    assert {finding["file"] for finding in ran.json["findings"]} == {"job.yaml"}


def test_a_job_is_checked_against_its_cluster(save, run, job, cluster):
    save("job.yaml", job)
    assert run("validate", "job.yaml", "--cluster", save("cluster.yaml", cluster)).code == 0
    cluster["instance_groups"][0]["instance_count"] = 1
    ran = run("validate", "job.yaml", "--cluster", save("cluster.yaml", cluster), "--format", "json")
    assert ran.code == 1
    assert [finding["path"] for finding in ran.json["findings"]] == ["nodes"]


def test_manifests_written_elsewhere_are_reviewed(save, run):
    sound = save("sound.json", kubeflow_job())
    wrong = save("wrong.json", put(kubeflow_job(), "container:name", "trainer"))
    assert run("validate", sound).code == 0
    ran = run("validate", wrong, "--format", "json")
    assert (ran.code, ran.rule_ids) == (1, ["TrainingContainer"])


def test_the_json_of_manifests_is_that_of_hyperpod_review(save, run, capsys):
    wrong = save("wrong.json", put(hyperpod_job(), "container:image", "vision:latest"))
    ran = run("validate", wrong, "--format", "json")
    review([wrong, "--format", "json"])
    reviewed = json.loads(capsys.readouterr().out)
    assert ran.json["findings"] == reviewed["findings"] != []
    assert ran.json.keys() == reviewed.keys()


def test_jobs_and_manifests_of_a_folder_are_found(save, run, job):
    save("all/deep/job.yaml", job)
    save("all/manifests.yaml", yaml.safe_dump_all([kubeflow_job(), hyperpod_job()]))
    save("all/values.yaml", {"image": "x", "replicas": 2})
    save("all/broken.yaml", "a: [")
    ran = run("validate", "all", "--format", "json")
    assert (ran.code, ran.json["findings"]) == (0, [])
    assert (ran.json["summary"]["jobs"], ran.json["summary"]["manifests"]) == (1, 2)
    broken, others = sorted(ran.json["limits"])
    assert broken.startswith("all/broken.yaml:")
    assert others == "neither a job specification nor a manifest: all/values.yaml"


def test_what_render_writes_is_taken_from_standard_input(save, run, job):
    manifests = run("render", save("job.yaml", job)).out
    ran = run("validate", "-", "--fail-on", "advice", standard_input=manifests)
    assert (ran.code, "no findings" in ran.out) == (0, True)


@pytest.mark.parametrize(("fail_on", "code"), [("never", 0), ("error", 0), ("warning", 1), ("advice", 1)])
def test_the_least_severity_that_counts_can_be_chosen(save, run, fail_on, code):
    warned = save("a.json", put(kubeflow_job(), "spec/runPolicy/backoffLimit", ...))
    ran = run("validate", warned, "--fail-on", fail_on, "--format", "json")
    assert (ran.code, [finding["severity"] for finding in ran.json["findings"]]) == (code, ["warning"])


def test_any_finding_but_advice_fails_by_default(save, run):
    advised = save("a.json", put(kubeflow_job(), "spec/runPolicy/ttlSecondsAfterFinished", ...))
    warned = save("b.json", put(kubeflow_job(), "spec/runPolicy/backoffLimit", ...))
    assert "1 advice" in run("validate", advised).out
    assert run("validate", advised).code == 0
    assert run("validate", warned).code == 1


def test_findings_are_acknowledged_as_for_hyperpod_review(save, run, job):
    job["checkpoint"]["save_seconds"] = 60
    save("job.yaml", job)
    save(
        ".hyperpod-review.yaml",
        {
            "acknowledgements": [
                {"id": SPECIFICATION.id, "resource": "job/vision", "reason": "saves take 20 s at night"}
            ]
        },
    )
    ran = run("validate", "job.yaml")
    assert (ran.code, "saves take 20 s at night" in ran.out) == (0, True)
    assert run("validate", "job.yaml", "--no-acknowledgements").code == 1


def test_an_error_in_a_job_is_not_acknowledged_with_its_warnings(save, run, job, cluster):
    job["checkpoint"]["save_seconds"] = 60
    cluster["instance_groups"][0]["instance_count"] = 1
    said = {"id": SPECIFICATION.id, "resource": "job/vision", "reason": "saves take 20 s at night"}
    save(".hyperpod-review.yaml", {"acknowledgements": [said]})
    options = (save("job.yaml", job), "--cluster", save("cluster.yaml", cluster))
    assert run("render", *options).code != 0
    ran = run("validate", *options, "--format", "json", "--verbose")
    assert ran.code == 1
    assert ran.json["summary"]["acknowledged"] == 1
    (error,) = (finding for finding in ran.json["findings"] if finding["severity"] == "error")
    assert (error["path"], error["acknowledged"]) == ("nodes", None)


def test_an_acknowledgement_of_nothing_is_a_finding(save, run, job):
    save("job.yaml", job)
    said = {"acknowledgements": [{"id": "RetryCap", "resource": "PyTorchJob/gone", "reason": "it was so"}]}
    ran = run("validate", "job.yaml", "--acknowledgements", save("accepted.yaml", said), "--format", "json")
    assert (ran.code, ran.rule_ids) == (1, ["AcknowledgementUnmatched"])


def test_other_formats_and_files(save, run, folder, job):
    job["nodes"] = 0
    save("job.yaml", job)
    sarif = json.loads(run("validate", "job.yaml", "--format", "sarif").out)
    (found,) = sarif["runs"][0]["results"]
    assert found["ruleId"] == SPECIFICATION.id
    assert "`JobSpecification`" in run("validate", "job.yaml", "--format", "markdown").out
    ran = run("validate", "job.yaml", "--output", "report.txt")
    assert ran.out == "1 error; 0 promises kept (1 job specification by 1 rule); report: report.txt\n"
    assert "must be 1 or more, got 0" in (folder / "report.txt").read_text()
    (line,) = run("validate", "job.yaml", "--quiet").out.splitlines()
    assert line.startswith("job.yaml:5: error: JobSpecification: ")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "a.yaml: is empty; name a job specification or a manifest"),
        ({"Resources": {"A": {"Type": "AWS::S3::Bucket"}}}, "a.yaml is a CloudFormation template"),
        ({"name": "a", "region": "us-east-2", "instance_groups": []}, "a.yaml is a cluster and no job"),
        ("apiVersion: v1\nkind: Pod\n---\nname: a\n", "a.yaml: mixes manifests with what is none"),
        ("apiVersion: kubeflow.org/v1\nspec: {}\n", "a.yaml:1: has apiVersion and no kind; a Kubernetes"),
        ("apiVersion: v1\nkind: Pod\n---\nkind: Pod\n", "a.yaml:4: has kind and no apiVersion"),
    ],
)
def test_what_cannot_be_validated_ends_with_2(save, run, content, message):
    ran = run("validate", save("a.yaml", content))
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_an_empty_folder_ends_with_2(run, folder):
    (folder / "empty").mkdir()
    ran = run("validate", "empty")
    assert (ran.code, ran.err) == (
        2,
        "hyperpod-jobs: empty: holds no job specification and no manifest\n",
    )


def test_options_that_exclude_each_other(save, run, job):
    ran = run("validate", save("job.yaml", job), "--acknowledgements", "a", "--no-acknowledgements")
    assert ran.code == 2
    assert "exclude each other" in ran.err


TAINT = {"key": "team", "value": "a", "effect": "NoSchedule"}
ON_CLUSTER = {
    "it fits": ({}, {}, []),
    "too many nodes": (
        {"replicas:replicas": 6, "spec/elasticPolicy/maxReplicas": 6, "spec/elasticPolicy/minReplicas": 6},
        {},
        ["nodes must be at most 5, the room in 'gpus', got 6"],
    ),
    "a type that is not there": (
        {"pod:nodeSelector/node.kubernetes.io~instance-type": "ml.p5e.48xlarge"},
        {},
        ["instance type is in no group of the cluster, got 'ml.p5e.48xlarge'"],
    ),
    "more than one thread a core gives": (
        {"container:resources/requests/cpu": "100", "container:resources/limits/cpu": "100"},
        {},
        ["vcpu must be at most 89 on group 'gpus' with threads_per_core 1, got 100"],
    ),
    "as much with two": (
        {"container:resources/requests/cpu": "100", "container:resources/limits/cpu": "100"},
        {"threads_per_core": 2},
        [],
    ),
    "nodes that nobody checked": (
        {"pod:nodeSelector/sagemaker.amazonaws.com~deep-health-check-status": "Passed"},
        {"deep_health_checks": []},
        ["deep health checked selects nodes that passed deep health checks, and group 'gpus' has none"],
    ),
    "another namespace": (
        {"metadata/namespace": "hyperpod-vision"},
        {},
        ["namespace must be 'kubeflow', whose training_pods have the training role"],
    ),
    "no namespace": ({"metadata/namespace": ...}, {}, []),
    "a type filled in later": ({"pod:nodeSelector/node.kubernetes.io~instance-type": "${TYPE}"}, {}, []),
    "a number filled in later": ({"replicas:replicas": "${NODES}", "spec/elasticPolicy": ...}, {}, []),
    "a taint": (
        {},
        {"deep_health_checks": [], "kubernetes_taints": [TAINT]},
        ["tolerations lack one for taint 'team' of group 'gpus'"],
    ),
    "a taint that is put up with": (
        {"pod:tolerations/1": {"key": "team", "operator": "Exists"}},
        {"deep_health_checks": [], "kubernetes_taints": [TAINT]},
        [],
    ),
}


@pytest.mark.parametrize(("changes", "group", "messages"), ON_CLUSTER.values(), ids=ON_CLUSTER)
def test_manifests_are_checked_against_a_cluster(save, run, cluster, changes, group, messages):
    cluster["instance_groups"][0] |= group
    body = kubeflow_job()
    for path, value in changes.items():
        put(body, path, value)
    ran = run("validate", save("job.json", body), "--cluster", save("c.yaml", cluster), "--format", "json")
    found = [finding for finding in ran.json["findings"] if finding["rule_id"] == RULE_ID]
    assert len(found) == len(messages)
    for finding, message in zip(found, messages, strict=True):
        assert finding["message"].startswith(message)
        assert finding["line"] > 1
    if messages:
        assert ran.code == 1


CHECKED = "sagemaker.amazonaws.com/deep-health-check-status"


def _rules_of(ran):
    return {(finding["rule_id"], finding["outcome"]) for finding in ran.json["findings"]}


@pytest.mark.parametrize("threads", [1, 2])
def test_a_cluster_answers_what_manifests_leave_open(save, run, cluster, threads):
    """How many CPUs a node has, and whether it is deeply checked, is open without its cluster."""
    body = kubeflow_job()
    put(body, "container:resources/requests/cpu", "150")
    put(body, "container:resources/limits/cpu", "150")
    put(body, f"pod:nodeSelector/{CHECKED.replace('/', '~')}", "Passed")
    save("job.json", body)
    cluster["instance_groups"][0] |= {
        "threads_per_core": threads,
        "deep_health_checks": ["InstanceStress", "InstanceConnectivity"],
    }
    open_rules = {("NodeCapacity", "undetermined"), ("DeepHealthSelector", "undetermined")}
    assert _rules_of(run("validate", "job.json", "--format", "json")) >= open_rules
    ran = run("validate", "job.json", "--cluster", save("c.yaml", cluster), "--format", "json")
    assert not _rules_of(ran) & open_rules
    assert ((RULE_ID, "fail") in _rules_of(ran)) == (threads == 1)


def test_a_cluster_without_the_type_answers_nothing(save, run, cluster):
    body = kubeflow_job()
    put(body, f"pod:nodeSelector/{CHECKED.replace('/', '~')}", "Passed")
    cluster["instance_groups"][0] |= {"instance_type": "ml.p4d.24xlarge"}
    ran = run("validate", save("j.json", body), "--cluster", save("c.yaml", cluster), "--format", "json")
    assert _rules_of(ran) >= {("DeepHealthSelector", "undetermined"), (RULE_ID, "fail")}


@pytest.mark.parametrize("enabled", [True, False])
def test_a_manifest_that_writes_to_the_memory_tier_needs_it_in_the_cluster(save, run, cluster, enabled):
    body = put(kubeflow_job(), "container:env/0", {"name": "CHECKPOINT_MEMORY_INTERVAL_STEPS", "value": "50"})
    if enabled:
        cluster["tiered_checkpointing"] = {"memory_percentage": 20, "s3_interval_steps": 500}
    ran = run("validate", save("j.json", body), "--cluster", save("c.yaml", cluster), "--format", "json")
    found = [finding["message"] for finding in ran.json["findings"] if finding["rule_id"] == RULE_ID]
    assert [message.partition(":")[0] for message in found if "tiered" in message] == (
        [] if enabled else ["tiered checkpointing is off in the cluster"]
    )


def test_jobs_of_the_hyperpod_operator_and_their_spares(save, run, cluster):
    cluster["training_pods"]["namespace"] = "hyperpod-ns-vision"
    save("c.yaml", cluster)
    fits = save("fits.json", hyperpod_job())
    assert run("validate", fits, "--cluster", "c.yaml").code == 0
    spare = save("spare.json", put(hyperpod_job(), "replicas:spares", 2))
    ran = run("validate", spare, "--cluster", "c.yaml", "--format", "json")
    (finding,) = ran.json["findings"]
    assert (finding["rule_id"], finding["path"]) == (RULE_ID, "spec.replicaSpecs[0].spares")
    assert "must be at most 5 together" in finding["message"]


def test_objects_that_are_no_jobs_need_no_cluster(save, run, cluster):
    pod = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    assert run("validate", save("a.json", pod), "--cluster", save("c.yaml", cluster)).code == 0


def test_what_is_no_object_in_a_list_is_said(save, run):
    path = save("a.yaml", "apiVersion: v1\nkind: List\nitems:\n- {kind: PyTorchJob}\n- 3\n")
    ran = run("validate", path)
    assert "not reviewed: a.yaml: 2 items of a List without apiVersion and kind" in ran.out
