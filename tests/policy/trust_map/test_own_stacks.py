"""Who can run code on the nodes of the two example clusters, worked out by hand."""

from __future__ import annotations

import pytest
from assemblies import assembly_of, spec_of
from told_ways import lines_of, name_of, principals_of

from hyperpod_policy.assembly import read_stack
from hyperpod_policy.trust_map import svg, trust_map

WRITE_SCRIPTS = "write-objects LifecycleScripts"
WRITE_CHECKPOINTS = "write-objects CheckpointBucket"
STAGING = "staging bucket cdk-hnb659fds-assets-${AWS::AccountId}-us-west-2"
JOIN = "join-group NodeSecurityGroup"
UPLOADED = f"run-as UploadServiceRole, {WRITE_SCRIPTS}"

BOOTSTRAP = {
    "cfn-exec-role": {
        "undetermined: change-bucket LifecycleScripts",
        "undetermined: change-bucket CheckpointBucket",
        "undetermined: deploy the stacks under review",
    },
    "deploy-role": {
        "undetermined: pass cfn-exec-role, change-bucket LifecycleScripts",
        "undetermined: pass cfn-exec-role, change-bucket CheckpointBucket",
        "undetermined: pass cfn-exec-role, deploy the stacks under review",
    },
}
ROOT_USER = {"yes: change-bucket LifecycleScripts", "yes: change-bucket CheckpointBucket"}
ADMINISTRATORS = {
    "yes: deploy the stacks under review",
    "yes: change-key LifecycleScriptsKey",
    "yes: change-key CheckpointBucketKey",
    "yes: change-cluster Cluster",
    "yes: open-session Cluster",
    "yes: change-ports NodeSecurityGroup",
    f"yes: {JOIN}",
    f"yes: pass UploadServiceRole, {WRITE_SCRIPTS}",
    f"yes: change-trust UploadServiceRole, {WRITE_SCRIPTS}",
    f"yes: change-function Upload, {UPLOADED}",
    f"yes: invoke Upload, {UPLOADED}",
    f"yes: write-objects {STAGING}, feed Upload, {UPLOADED}",
    f"yes: pass ExecutionRole, {JOIN}",
    f"yes: change-trust ExecutionRole, {JOIN}",
    "no: write-objects LifecycleScripts",
    "no: change-bucket LifecycleScripts",
    "no: write-objects CheckpointBucket",
    "no: change-bucket CheckpointBucket",
}

SLURM = {
    "ExecutionRole": {f"yes: {WRITE_CHECKPOINTS}", f"yes: {JOIN}"},
    "jobs of cluster Cluster": {
        f"yes: act-as ExecutionRole, {WRITE_CHECKPOINTS}",
        f"yes: act-as ExecutionRole, {JOIN}",
    },
    "service sagemaker.amazonaws.com": {
        f"yes: assume ExecutionRole, {WRITE_CHECKPOINTS}",
        f"yes: assume ExecutionRole, {JOIN}",
    },
    "UploadServiceRole": {f"yes: {WRITE_SCRIPTS}"},
    "service lambda.amazonaws.com": {f"yes: assume UploadServiceRole, {WRITE_SCRIPTS}"},
    "members of security group NodeSecurityGroup": {"yes: reach NodeSecurityGroup"},
    "members of security group FileSystemSecurityGroup": {"yes: reach NodeSecurityGroup"},
    "root user of the account": ROOT_USER,
    "administrators of the account": {
        *ADMINISTRATORS,
        f"yes: pass ExecutionRole, {WRITE_CHECKPOINTS}",
        f"yes: change-trust ExecutionRole, {WRITE_CHECKPOINTS}",
    },
    **BOOTSTRAP,
    "file-publishing-role": {f"undetermined: write-objects {STAGING}, feed Upload, {UPLOADED}"},
}

EKS_CLUSTER = "administer-cluster ControlPlane"
HANDLER_ROLE = "ControlPlaneKubectlHandlerServiceRole"
PROVIDER = "ControlPlaneKubectlProviderframeworkonEvent"
HANDLED = f"run-as {HANDLER_ROLE}, {EKS_CLUSTER}"
PROVIDED = f"invoke ControlPlaneKubectlHandler, {HANDLED}"
CHART = "oci://111122223333.dkr.ecr.us-west-2.amazonaws.com/hyperpod-helm-chart"

EKS = {
    "ExecutionRole": {f"yes: {JOIN}"},
    "host-network pods of cluster Cluster": {f"yes: act-as ExecutionRole, {JOIN}"},
    "service sagemaker.amazonaws.com": {f"yes: assume ExecutionRole, {JOIN}"},
    "TrainingPodRole": {f"yes: {WRITE_CHECKPOINTS}"},
    "pods of service account kubeflow/trainer": {f"yes: assume TrainingPodRole, {WRITE_CHECKPOINTS}"},
    "service pods.eks.amazonaws.com": {f"yes: assume TrainingPodRole, {WRITE_CHECKPOINTS}"},
    "UploadServiceRole": {f"yes: {WRITE_SCRIPTS}"},
    HANDLER_ROLE: {f"yes: {EKS_CLUSTER}"},
    f"{PROVIDER}ServiceRole": {f"yes: {PROVIDED}"},
    "ControlPlaneRole": {"yes: change-ports NodeSecurityGroup"},
    "service eks.amazonaws.com": {"yes: assume ControlPlaneRole, change-ports NodeSecurityGroup"},
    "service lambda.amazonaws.com": {
        f"yes: assume UploadServiceRole, {WRITE_SCRIPTS}",
        f"yes: assume {HANDLER_ROLE}, {EKS_CLUSTER}",
        f"yes: assume {PROVIDER}ServiceRole, {PROVIDED}",
    },
    "members of security group NodeSecurityGroup": {"yes: reach NodeSecurityGroup"},
    "members of security group FileSystemSecurityGroup": {"yes: reach NodeSecurityGroup"},
    "members of security group ControlPlaneSecurityGroup": {"yes: reach NodeSecurityGroup"},
    "root user of the account": ROOT_USER,
    CHART: {f"undetermined: change-chart {CHART}, {EKS_CLUSTER}"},
    "administrators of the account": {
        *ADMINISTRATORS,
        "yes: change-access ControlPlane",
        f"yes: pass {HANDLER_ROLE}, {EKS_CLUSTER}",
        f"yes: change-trust {HANDLER_ROLE}, {EKS_CLUSTER}",
        f"yes: change-function ControlPlaneKubectlHandler, {HANDLED}",
        f"yes: invoke ControlPlaneKubectlHandler, {HANDLED}",
        f"yes: pass {PROVIDER}ServiceRole, {PROVIDED}",
        f"yes: change-trust {PROVIDER}ServiceRole, {PROVIDED}",
        f"yes: change-function {PROVIDER}, run-as {PROVIDER}ServiceRole, {PROVIDED}",
        f"yes: invoke {PROVIDER}, run-as {PROVIDER}ServiceRole, {PROVIDED}",
        "yes: change-trust ControlPlaneRole, change-ports NodeSecurityGroup",
        f"yes: change-trust TrainingPodRole, {WRITE_CHECKPOINTS}",
        f"undetermined: pass TrainingPodRole, {WRITE_CHECKPOINTS}",
        f"undetermined: write-objects {STAGING}, feed ControlPlaneKubectlHandler, {HANDLED}",
    },
    **BOOTSTRAP,
    "file-publishing-role": {
        f"undetermined: write-objects {STAGING}, feed Upload, {UPLOADED}",
        f"undetermined: write-objects {STAGING}, feed ControlPlaneKubectlHandler, {HANDLED}",
    },
}

EXPECTED = {"llm-train.yaml": SLURM, "llm-train-eks.yaml": EKS}


@pytest.fixture(scope="module", params=EXPECTED)
def example(request):
    return request.param


@pytest.fixture(scope="module")
def document(example, tmp_path_factory):
    folder = assembly_of(spec_of(example), tmp_path_factory.mktemp("assembly"))
    return read_stack(folder / "HyperPodStack.template.json", region="us-west-2")


@pytest.fixture(scope="module")
def found(document):
    return trust_map(document)


def test_everybody_is_on_the_map(found, example):
    assert principals_of(found) == set(EXPECTED[example])


def test_everybody_has_the_ways_that_were_worked_out(found, example):
    for principal, ways in EXPECTED[example].items():
        assert lines_of(found, principal) == ways, principal


def test_each_open_way_of_the_templates_own_is_backed_by_a_statement(found):
    own = [way for way in found.ways if not found.nodes[way.principal].outside]
    assert own
    for way in own:
        for step in way.steps:
            assert step.evidence, step


def test_the_writers_chain_names_the_statement_and_the_lock_that_leaves_it_out(found, example):
    writer = "ExecutionRole" if example == "llm-train.yaml" else "TrainingPodRole"
    (step,) = (
        step
        for step in found.steps
        if name_of(found.nodes[step.source]) == writer and step.ability == "write-objects"
    )
    assert step.actions == ("s3:DeleteObject", "s3:PutObject")
    grant, lock = step.evidence
    assert grant.resource_type == "AWS::IAM::ManagedPolicy"
    assert grant.path[:2] == ("PolicyDocument", "Statement")
    assert grant.text.startswith(
        "Allow s3:DeleteObject, s3:GetObject, s3:PutObject on arn:${AWS::Partition}:s3:::"
    )
    assert lock.sid == "DenyObjectWritesExceptWriters"
    assert lock.text.endswith(f"{found.nodes[step.source].label}.Arn")


def test_the_text_is_narrow_but_for_names(found):
    for line in found.text().splitlines():
        assert len(line) <= 100 or max(map(len, line.split())) > 60, line


def test_the_text_names_all_and_numbers_what_it_quotes(found):
    text = found.text()
    for way in found.ways:
        assert found.nodes[way.principal].words in text
    for number in range(1, text.count("\n  [") + 1):
        assert f"[{number}]" in text.split("Statements and properties")[0]


def test_nothing_overlaps_in_the_drawing(found):
    from drawn_boxes import cards_in, overlapping, passing_edges, too_long_texts

    drawing = svg(found)
    assert {card.node for card in cards_in(drawing)} == set(found.nodes)
    assert overlapping(drawing) == []
    assert passing_edges(drawing) == []
    assert too_long_texts(drawing) == []
