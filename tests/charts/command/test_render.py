"""`hyperpod-jobs render`: manifests for a job, or each of its faults with its line."""

from __future__ import annotations

import pytest
import yaml

from hyperpod_charts.rendering import render
from hyperpod_model.cluster_spec import load_cluster
from hyperpod_model.job_spec import load_job, node_setup_on


def test_a_job_becomes_what_the_library_makes_of_it(save, run, folder, job):
    ran = run("render", save("job.yaml", job))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == render(load_job(folder / "job.yaml"))
    kinds = [document["kind"] for document in yaml.safe_load_all(ran.out)]
    assert kinds == ["PyTorchJob", "NetworkPolicy"]


def test_a_cluster_tells_how_many_cpus_there_are(save, run, folder, job, cluster):
    cluster["instance_groups"][0]["threads_per_core"] = 2
    ran = run("render", save("job.yaml", job), "--cluster", save("cluster.yaml", cluster))
    assert (ran.code, ran.err) == (0, "")
    setup = node_setup_on(load_cluster(folder / "cluster.yaml").spec, "ml.p5.48xlarge")
    assert ran.out == render(load_job(folder / "job.yaml"), node=setup)
    assert ran.out != run("render", "job.yaml").out


def test_manifests_go_to_a_file(save, run, folder, job):
    ran = run("render", save("job.yaml", job), "--output", "job-manifests.yaml")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert (folder / "job-manifests.yaml").read_text() == run("render", "job.yaml").out


def test_the_network_policy_can_be_left_out(save, run, job):
    ran = run("render", save("job.yaml", job), "--no-network-policy")
    assert [document["kind"] for document in yaml.safe_load_all(ran.out)] == ["PyTorchJob"]


def test_a_job_comes_from_standard_input(save, run, job):
    text = yaml.safe_dump(job)
    assert run("render", "-", standard_input=text).out == run("render", save("job.yaml", text)).out


WRONG = """\
name: vision
image: 444455556666.dkr.ecr.us-east-2.amazonaws.com/vision:latest
instance_type: ml.p5.48xlarge
nodes: 0
service_account: trainer
script: /app/train.py
persistent_volume_claims:
  - {claim_name: lustre, mount_path: /lustre}
checkpoint: {path: /lustre/vision}
"""


def test_a_wrong_job_is_refused_with_all_faults_and_their_lines(save, run):
    ran = run("render", save("job.yaml", WRONG))
    assert (ran.code, ran.out) == (1, "")
    image, nodes, last = ran.err.splitlines()
    assert image.startswith("job.yaml:2: error: image: must not have the tag 'latest'")
    assert nodes.startswith("job.yaml:4: error: nodes: must be 1 or more, got 0")
    assert last == "job.yaml: refused, nothing is rendered"


def test_nothing_is_written_for_a_job_that_is_refused(save, run, folder):
    assert run("render", save("job.yaml", WRONG), "--output", "out.yaml").code == 1
    assert not (folder / "out.yaml").exists()


def test_a_job_that_never_starts_on_its_cluster_is_refused(save, run, job, cluster):
    cluster["instance_groups"][0]["instance_count"] = 2
    ran = run("render", save("job.json", job), "--cluster", save("cluster.yaml", cluster))
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("job.json:5: error: nodes: must be at most 2, the room in 'gpus'")


def test_warnings_are_told_and_do_not_refuse(save, run, job):
    job["checkpoint"]["save_seconds"] = 60
    ran = run("render", save("job.yaml", job))
    assert ran.code == 0
    assert ": warning: torch_version: is not given" in ran.err
    assert yaml.safe_load_all(ran.out)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {"apiVersion": "v1", "kind": "Pod"},
            "is a Kubernetes manifest and no job specification; try validate",
        ),
        ({"Resources": {"A": {"Type": "AWS::S3::Bucket"}}}, "is a CloudFormation template; hyperpod-review"),
        ({"name": "a", "instance_groups": []}, "is a cluster and no job; give it with --cluster"),
        ("a: [", "job.yaml:2: "),
    ],
)
def test_what_is_no_job_is_not_taken_for_one(save, run, content, message):
    ran = run("render", save("job.yaml", content))
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.yaml"], "hyperpod-jobs: none.yaml: is not there\n"),
        ([], "hyperpod-jobs: the following arguments are required: JOB; see hyperpod-jobs render --help\n"),
        (
            ["job.yaml", "--output", "no/such/folder"],
            "hyperpod-jobs: --output no/such/folder cannot be written",
        ),
        (["job.yaml", "--cluster", "none.yaml"], "hyperpod-jobs: --cluster none.yaml: there is no"),
    ],
)
def test_a_wrong_option_ends_with_2(save, run, job, arguments, message):
    save("job.yaml", job)
    ran = run("render", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "--cluster c.yaml is a job and no cluster; give it without --cluster\n"),
        ({"apiVersion": "v1", "kind": "Pod"}, "--cluster c.yaml is a Kubernetes manifest and no cluster\n"),
        ("a: [", "--cluster c.yaml: "),
        ({"name": "a", "image": "b"}, "--cluster c.yaml: region (line 1): is required"),
    ],
)
def test_what_is_no_cluster_is_not_taken_for_one(save, run, job, content, message):
    ran = run(
        "render", save("job.yaml", job), "--cluster", save("c.yaml", job if content is None else content)
    )
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"hyperpod-jobs: {message}")


def test_all_faults_of_a_cluster_are_told(save, run, job, cluster):
    cluster["name"] = "-"
    cluster["instance_groups"][0]["instance_count"] = -1
    ran = run("render", save("job.yaml", job), "--cluster", save("cluster.yaml", cluster))
    assert ran.code == 2
    assert [line.partition(" (line")[0] for line in ran.err.splitlines()] == [
        "hyperpod-jobs: --cluster cluster.yaml: name",
        "--cluster cluster.yaml: instance_groups[0].instance_count",
    ]
