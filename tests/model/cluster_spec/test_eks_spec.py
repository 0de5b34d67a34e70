from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from hyperpod_model.cluster_spec import LoadedCluster, load_cluster
from hyperpod_model.faults import UNKNOWN, Fault

Faults = Callable[..., tuple[Fault, ...]]
Load = Callable[..., LoadedCluster]

EXAMPLES = Path(__file__).parents[3] / "examples" / "clusters"
ROLE = "arn:aws:iam::111122223333:role/nodes"
ARN = "arn:aws:eks:us-west-2:111122223333:cluster/training"
ISSUER = "oidc.eks.us-west-2.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF"
OCI = "oci://111122223333.dkr.ecr.us-west-2.amazonaws.com/hyperpod-helm-chart"

NEW = f"""\
name: train
region: us-west-2
orchestrator: eks
network:
  availability_zone_id: usw2-az2
eks:
  control_plane_availability_zone_ids: [usw2-az1, usw2-az2]
  dependency_chart:
    oci_uri: {OCI}
    version: 0.1.0
instance_groups:
  - name: workers
    instance_type: ml.p5.48xlarge
    instance_count: 4
training_pods:
  namespace: kubeflow
  service_account: trainer
"""

EXISTING = f"""\
name: train
region: us-west-2
orchestrator: eks
network:
  vpc_id: vpc-0123456789abcdef0
  subnet_ids: [subnet-0123456789abcdef0]
  security_group_ids: [sg-0123456789abcdef0]
eks:
  cluster_arn: {ARN}
  dependency_chart:
    installed: true
instance_groups:
  - name: workers
    instance_type: ml.p5.48xlarge
    instance_count: 4
training_pods:
  namespace: kubeflow
  service_account: trainer
"""

SPLIT_TIERS = (
    NEW.replace(
        "training_pods:",
        """\
  - name: more
    instance_type: ml.p5.48xlarge
    instance_count: 1
    override_subnet_ids: [subnet-01234567]
    override_security_group_ids: [sg-01234567]
training_pods:""",
    )
    + "\n\ntiered_checkpointing: {memory_percentage: 20, s3_interval_steps: 500}\n"
)

SLURM = """\
name: train
region: us-west-2
network:
  availability_zone_id: usw2-az2
instance_groups:
  - {name: controller, node_type: Controller, instance_type: ml.m5.large, instance_count: 1}
  - {name: gpu, node_type: Compute, partition_names: [a], instance_type: ml.g5.48xlarge, instance_count: 4}
"""


def changed(base: str, *changes: tuple[str, str], more: str = "") -> str:
    for old, new in changes:
        assert old in base
        base = base.replace(old, new)
    return base + more


def new(*changes: tuple[str, str], more: str = "") -> str:
    return changed(NEW, *changes, more=more)


def existing(*changes: tuple[str, str], more: str = "") -> str:
    return changed(EXISTING, *changes, more=more)


def in_eks(text: str, field: str) -> str:
    return text.replace("eks:\n ", f"eks:\n  {field}\n ")


def in_workers(text: str, field: str) -> str:
    return text.replace("instance_count: 4\n", f"instance_count: 4\n    {field}\n")


def test_a_new_eks_cluster_is_known_at_deployment(load: Load) -> None:
    spec = load(NEW).spec
    assert spec.to_request()["Orchestrator"] == {"Eks": {"ClusterArn": UNKNOWN}}
    assert spec.eks.is_existing is False
    assert spec.eks.kubernetes_version is None


def test_an_existing_eks_cluster_is_named(load: Load) -> None:
    spec = load(EXISTING).spec
    assert spec.to_request()["Orchestrator"] == {"Eks": {"ClusterArn": ARN}}


def test_nodes_of_eks_run_the_packages_own_scripts_as_documented(load: Load) -> None:
    spec = load(NEW).spec
    assert (spec.script_hook, spec.entry_point) == ("OnCreate", "on_init_complete.sh")
    [group] = spec.to_request()["InstanceGroups"]
    assert group["LifeCycleConfig"] == {"SourceS3Uri": UNKNOWN, "OnCreate": "on_init_complete.sh"}


def test_scripts_of_eks_nodes_from_elsewhere_begin_with_on_create(load: Load) -> None:
    spec = load(new(more="lifecycle_scripts: {source_s3_uri: s3://my-bucket/x/}\n")).spec
    [group] = spec.to_request()["InstanceGroups"]
    assert group["LifeCycleConfig"] == {"SourceS3Uri": "s3://my-bucket/x/", "OnCreate": "on_create.sh"}


def test_a_group_makes_all_scripts_come_last(load: Load) -> None:
    text = in_workers(NEW, "lifecycle_scripts: {on_init_complete: last.sh}").replace(
        "training_pods:",
        "  - {name: more, instance_type: ml.m5.large, instance_count: 1}\ntraining_pods:",
    )
    spec = load(text).spec
    assert spec.script_hook == "OnInitComplete"
    said = [group["LifeCycleConfig"]["OnInitComplete"] for group in spec.to_request()["InstanceGroups"]]
    assert said == ["last.sh", "on_init_complete.sh"]


def test_a_cluster_or_a_group_runs_no_scripts(load: Load) -> None:
    for text in (new(more="lifecycle_scripts: null\n"), in_workers(NEW, "runs_lifecycle_scripts: false")):
        [group] = load(text).spec.to_request()["InstanceGroups"]
        assert "LifeCycleConfig" not in group


def test_pods_mount_the_file_system_of_eks(load: Load) -> None:
    spec = load(NEW).spec
    assert spec.file_system is not None
    [group] = spec.to_request()["InstanceGroups"]
    assert group["InstanceStorageConfigs"] == [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}]


def test_the_usual_eks_cluster() -> None:
    loaded = load_cluster(EXAMPLES / "llm-train-eks.yaml")
    spec, request = loaded.spec, loaded.spec.to_request()
    [workers, system] = request["InstanceGroups"]
    assert (workers["InstanceType"], workers["InstanceCount"]) == ("ml.p5.48xlarge", 16)
    # The operators run there while the workers are checked.
    assert (system["InstanceType"], system["MinInstanceCount"]) == ("ml.m5.2xlarge", 2)
    assert "OnStartDeepHealthChecks" not in system
    assert workers["OnStartDeepHealthChecks"] == ["InstanceStress", "InstanceConnectivity"]
    assert spec.resilience.spare_nodes == 1
    assert request["TieredStorageConfig"]["Mode"] == "Enable"
    assert spec.training_pods is not None
    assert (spec.training_pods.namespace, spec.training_pods.service_account) == ("kubeflow", "trainer")
    assert spec.training_pods.identity == "pod-identity"
    [note, other] = loaded.notes
    assert other.startswith("budget: counts only what has the tag 'hyperpod-cluster'")
    assert note.startswith(
        "tiered_checkpointing: the memory tier saves nothing by itself; the step that is due"
    )
    assert note.endswith("to the bucket every 500 steps")


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        # the orchestrator
        (new(more="slurm: {mode: api}\n"), "slurm", r"goes with orchestrator 'slurm', got 'eks'"),
        (
            in_workers(NEW, "node_type: Compute"),
            "instance_groups[0].node_type",
            r"goes with orchestrator 'slurm', got 'eks'; leave it out",
        ),
        (in_workers(NEW, "partition_names: [a]"), "instance_groups[0].partition_names", r"goes with orch"),
        (
            in_workers(NEW, "mounts_file_system: false"),
            "instance_groups[0].mounts_file_system",
            r"with EKS pods mount file systems as volumes",
        ),
        (
            in_workers(
                NEW, "open_zfs_mounts: [{dns_name: fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com}]"
            ),
            "instance_groups[0].open_zfs_mounts",
            r"with EKS pods mount file systems as volumes",
        ),
        (changed(SLURM, more="eks: {}\n"), "eks", r"goes with orchestrator 'eks'; set that"),
        (
            changed(SLURM, more="training_pods: {namespace: a, service_account: b}\n"),
            "training_pods",
            r"goes with orchestrator 'eks'",
        ),
        (
            changed(SLURM, more="tiered_checkpointing: {memory_percentage: 20, s3_interval_steps: 9}\n"),
            "tiered_checkpointing",
            r"goes with the EKS orchestrator only",
        ),
        (changed(SLURM, more="auto_scaling: {}\n"), "auto_scaling", r"goes with the EKS orchestrator only"),
        (
            in_workers(
                SLURM.replace("instance_count: 4}", "instance_count: 4, kubernetes_labels: {a: b}}"), ""
            ),
            "instance_groups[1].kubernetes_labels",
            r"goes with the EKS orchestrator only",
        ),
        # a new EKS cluster
        (
            new(("  control_plane_availability_zone_ids: [usw2-az1, usw2-az2]\n", "")),
            "eks.control_plane_availability_zone_ids",
            r"is required where network and EKS cluster are made: EKS asks for two zones",
        ),
        (
            new(("[usw2-az1, usw2-az2]", "[usw2-az1]")),
            "eks.control_plane_availability_zone_ids",
            r"two zones",
        ),
        (
            new(("[usw2-az1, usw2-az2]", "[usw2-az1, use1-az1]")),
            "eks.control_plane_availability_zone_ids[1]",
            r"must be a zone of us-west-2",
        ),
        (in_eks(NEW, "kubernetes_version: '1.19'"), "eks.kubernetes_version", r"that HyperPod supports"),
        (
            in_eks(NEW, "kubernetes_version: latest"),
            "eks.kubernetes_version",
            r"must be a Kubernetes version",
        ),
        (
            in_eks(NEW, "kubectl_role_arn: " + ROLE),
            "eks.kubectl_role_arn",
            r"tells of an existing EKS cluster",
        ),
        (in_eks(NEW, "public_access_cidrs: [home]"), "eks.public_access_cidrs[0]", r"must be an IPv4 range"),
        (
            in_eks(NEW, "public_access_cidrs: [203.0.113.7]"),
            "eks.public_access_cidrs[0]",
            r"must be an IPv4 range .*, got '203\.0\.113\.7'; for one address write 203\.0\.113\.7/32",
        ),
        (in_eks(NEW, "administrator_role_arns: [me]"), "eks.administrator_role_arns[0]", r"must be arn:"),
        (in_eks(NEW, "add_on_versions: {vpc-cni: v1.12.0}"), "eks.add_on_versions.vpc-cni", r"or later"),
        (in_eks(NEW, "add_on_versions: {cni: v1.12.0}"), "eks.add_on_versions.cni", r"add-on"),
        (
            in_eks(NEW, "control_plane_subnet_ids: [subnet-01234567, subnet-12345678]"),
            "eks.control_plane_subnet_ids",
            r"goes with an existing network",
        ),
        (
            existing(
                (f"  cluster_arn: {ARN}\n", ""), ("installed: true", f"oci_uri: {OCI}\n    version: 0.1.0")
            ),
            "eks.control_plane_subnet_ids",
            r"must be two existing subnets or more",
        ),
        (
            new(
                ("usw2-az2\n", "usw2-az2\n  vpc_cidr: 10.0.0.0/22\n  accelerator_subnet_prefix_length: 23\n")
            ),
            "network.vpc_cidr",
            r"must hold accelerator_subnet_prefix_length /23, a public subnet /24 and 2 x a subnet of the",
        ),
        # an existing one
        (existing((ARN, "training")), "eks.cluster_arn", r"must be"),
        (existing(("eks:us-west-2", "eks:us-east-1")), "eks.cluster_arn", r"is of region 'us-east-1'"),
        (
            in_eks(EXISTING, "public_access_cidrs: [203.0.113.0/24]"),
            "eks.public_access_cidrs",
            r"shapes an EKS cluster that is made, and cluster_arn names an existing one",
        ),
        (
            in_eks(EXISTING, "cluster_security_group_id: group"),
            "eks.cluster_security_group_id",
            r"8 or 17 hex",
        ),
        (
            new(("  control_plane_availability_zone_ids: [usw2-az1, usw2-az2]\n", f"  cluster_arn: {ARN}\n")),
            "network.subnet_ids",
            r"is required with eks.cluster_arn",
        ),
        # the chart
        (
            new((f"    oci_uri: {OCI}\n    version: 0.1.0\n", "    {}\n")),
            "eks.dependency_chart",
            r"does not say where the Helm chart comes from .*HyperPodHelmChart.*: give folder, oci_uri",
        ),
        (new(("    version: 0.1.0\n", "")), "eks.dependency_chart.version", r"is required with oci_uri"),
        (
            new(("version: 0.1.0", 'version: ">=0.1.0"')),
            "eks.dependency_chart.version",
            r"must be one exact version .* got '>=0\.1\.0'",
        ),
        (
            new((OCI, "https://example.com/chart")),
            "eks.dependency_chart.oci_uri",
            r"must be oci:// with a reg",
        ),
        (
            new(
                ("usw2-az2\n", "usw2-az2\n  isolated: true\n"),
                (OCI, "oci://registry.example.com/hyperpod-helm-chart"),
            ),
            "eks.dependency_chart.oci_uri",
            r"must be a private ECR repository of us-west-2 .* isolated, .*'oci://registry\.example\.com",
        ),
        (
            new(("usw2-az2\n", "usw2-az2\n  isolated: true\n"), ("ecr.us-west-2", "ecr.eu-west-1")),
            "eks.dependency_chart.oci_uri",
            r"must be a private ECR repository of us-west-2 .*eu-west-1",
        ),
        (
            new((f"oci_uri: {OCI}", "folder: charts")),
            "eks.dependency_chart.version",
            r"goes with oci_uri; leave it out",
        ),
        (
            new((f"    oci_uri: {OCI}\n    version: 0.1.0\n", "    folder: charts\n")),
            "eks.dependency_chart.folder",
            r"there is no folder 'charts'",
        ),
        (
            new((f"    oci_uri: {OCI}\n    version: 0.1.0\n", "    installed: true\n")),
            "eks.dependency_chart.installed",
            r"goes with an existing EKS cluster",
        ),
        (
            existing(("installed: true", f"installed: true\n    oci_uri: {OCI}\n    version: 0.1.0")),
            "eks.dependency_chart",
            r"says oci_uri and installed; keep one",
        ),
        (
            existing(("installed: true", f"oci_uri: {OCI}\n    version: 0.1.0")),
            "eks.kubectl_role_arn",
            r"is required to install dependency_chart in the existing EKS cluster",
        ),
        (
            in_eks(
                existing(("installed: true", f"oci_uri: {OCI}\n    version: 0.1.0")),
                f"kubectl_role_arn: {ROLE}",
            ),
            "eks.cluster_security_group_id",
            r"is required to install dependency_chart from the VPC of network\.vpc_id",
        ),
        # pods
        (
            new(("namespace: kubeflow", "namespace: Kube_flow")),
            "training_pods.namespace",
            r"lower-case letters",
        ),
        (new(("trainer", "default")), "training_pods.service_account", r"must not be 'default'"),
        (
            new(more=f"  issuer: {ISSUER}\n"),
            "training_pods.issuer",
            r"goes with identity 'irsa' and eks.cluster",
        ),
        (existing(more="  identity: irsa\n"), "training_pods.issuer", r"is required for identity 'irsa'"),
        (
            existing(more="  identity: irsa\n  issuer: me\n"),
            "training_pods.issuer",
            r"must be the OIDC issuer",
        ),
        (
            existing(more=f"  identity: irsa\n  issuer: {ISSUER}\n".replace("us-west-2", "us-east-1")),
            "training_pods.issuer",
            r"is of region 'us-east-1', and the EKS cluster is in 'us-west-2'",
        ),
        (new(more="  identity: iam\n"), "training_pods.identity", r"must be one of 'pod-identity', 'irsa'"),
        # tiers
        (
            new(more="tiered_checkpointing: {memory_percentage: 20}\n"),
            "tiered_checkpointing.s3_interval_steps",
            r"is required: the memory tier does not outlive",
        ),
        (
            new(more="tiered_checkpointing: {memory_percentage: 10, s3_interval_steps: 9}\n"),
            "tiered_checkpointing.memory_percentage",
            r"must be 20 to 100",
        ),
        (
            new(more="tiered_checkpointing: {s3_interval_steps: 9}\n"),
            "tiered_checkpointing.memory_percentage",
            r"20 to 100",
        ),
        (
            new(more="tiered_checkpointing: {enabled: false, memory_percentage: 20}\n"),
            "tiered_checkpointing.memory_percentage",
            r"goes with enabled: true",
        ),
        # checkpointless
        (
            new(
                more="checkpointless: {operator_version: 1.0.0, framework: Nemo, data_format: ARROW, "
                "image_uri: 111122223333.dkr.ecr.us-west-2.amazonaws.com/train:1, "
                "durable_interval_steps: 500, package_version: 1.0.1}\n"
            ),
            "checkpointless.operator_version",
            r"must be 1.2.0 or later",
        ),
        # scripts
        (
            new(more="lifecycle_scripts: null\n").replace(
                "instance_count: 4", "instance_count: 4\n    lifecycle_scripts: {on_create: a.sh}"
            ),
            "instance_groups[0].lifecycle_scripts.source_s3_uri",
            r"is required, since lifecycle_scripts of the cluster are null",
        ),
        (
            in_workers(NEW, "lifecycle_scripts: {on_create: a.sh}\n    runs_lifecycle_scripts: false"),
            "instance_groups[0].runs_lifecycle_scripts",
            r"is false, and lifecycle_scripts of the group name some",
        ),
        (
            in_workers(NEW, "lifecycle_scripts: {on_create: a.sh}").replace(
                "training_pods:",
                "  - {name: b, instance_type: ml.m5.large, instance_count: 1, lifecycle_scripts: "
                "{on_init_complete: b.sh}}\ntraining_pods:",
            ),
            "instance_groups[1].lifecycle_scripts.on_init_complete",
            r"is named beside on_create of another group",
        ),
        # autoscaling
        (new(more="auto_scaling: {role_arn: me}\n"), "auto_scaling.role_arn", r"must be an IAM role ARN"),
        (
            new(more="auto_scaling: {}\nnode_provisioning_mode: null\n"),
            "auto_scaling",
            r"needs node_provisioning_mode 'Continuous'",
        ),
        # groups
        (
            in_workers(NEW, "instance_types: [ml.p5e.48xlarge]"),
            "instance_groups[0].instance_types",
            r"excludes instance_type",
        ),
        (
            new(("instance_type: ml.p5.48xlarge", "instance_types: [ml.p5.48xlarge, ml.p5.48xlrge]")),
            "instance_groups[0].instance_types[1]",
            r"did you mean ml.p5.48xlarge",
        ),
        (
            in_workers(NEW, "kubernetes_taints: [{key: -a, effect: NoSchedule}]"),
            "instance_groups[0].kubernetes_taints[0].key",
            r"must be a Kubernetes label key",
        ),
        (
            in_workers(NEW, "kubernetes_labels: {team: 'a b'}"),
            "instance_groups[0].kubernetes_labels.team",
            r"must be a Kubernetes label value",
        ),
        (in_workers(NEW, "capacity_type: Spot"), "instance_groups[0].capacity_type", r"did you mean 'spot'"),
        (
            in_workers(NEW, "override_subnet_ids: [subnet-01234567]"),
            "instance_groups[0].override_security_group_ids",
            r"is required",
        ),
        (
            in_workers(NEW, "override_subnet_ids: [a]\n    override_security_group_ids: [sg-01234567]"),
            "instance_groups[0].override_subnet_ids[0]",
            r"8 or 17 hexadecimal digits",
        ),
        (
            in_workers(NEW, "scheduled_update: {schedule_expression: daily}"),
            "instance_groups[0].scheduled_update.schedule_expression",
            r"a schedule such as cron",
        ),
        (
            in_workers(
                NEW,
                "auto_patching: {strategy: WhenIdle, deployment: {maximum_batch_size: {type: INSTANCE_COUNT, "
                "value: 0}}}",
            ),
            "instance_groups[0].auto_patching.deployment.maximum_batch_size.value",
            r"at least 1",
        ),
        (
            in_workers(NEW, "auto_patching: {strategy: DrainFirst}"),
            "instance_groups[0].auto_patching.strategy",
            "",
        ),
        (
            in_workers(NEW, "image_release_version: v1"),
            "instance_groups[0].image_release_version",
            r"MAJOR.MINOR",
        ),
        # restricted groups
        (
            new(more="restricted_instance_groups: [{name: a, instance_type: ml.p5, instance_count: 1}]\n"),
            "restricted_instance_groups[0].instance_type",
            r"must be an instance type",
        ),
        (
            new(
                more="restricted_environment: {file_system: {storage_capacity_gib: 100, "
                "throughput_mbps_per_tib: 250}}\n"
            ),
            "restricted_environment.file_system.storage_capacity_gib",
            r"1200 to 100800",
        ),
        # the network
        (
            new(("usw2-az2\n", "usw2-az2\n  isolated: true\n  http_egress: true\n")),
            "network.http_egress",
            r"opens port 80 of the internet, and the network is isolated",
        ),
        (
            existing(("vpc_id", "isolated: true\n  vpc_id")),
            "network.isolated",
            r"closes a network that is made, and subnet_ids name an existing one",
        ),
        (
            new(("usw2-az2\n", "usw2-az2\n  accelerator_subnet_prefix_length: 25\n")),
            "network.accelerator_subnet_prefix_length",
            r"workers 4 x 81",
        ),
        # the file system
        (
            new(more="file_system: {data_repository: {path: data}, removal: retain}\n"),
            "file_system.data_repository.path",
            r"begins with a slash",
        ),
        (
            new(more="file_system: {data_repository: {path: /data}}\n"),
            "file_system.removal",
            r"must be retain for a file system that is linked to a bucket",
        ),
        (
            new(
                more="file_system: {data_repository: {path: /data, export_events: [NEW]}, removal: retain}\n"
            ),
            "file_system.data_repository.export_events",
            r"or say export_makes_fsx_users_writers: true",
        ),
        (
            new(
                more="file_system: {data_repository: {path: /a}, removal: retain}\ncheckpoint_bucket: null\n"
            ),
            "file_system.data_repository.bucket_name",
            r"is required where checkpoint_bucket is null",
        ),
        (
            new(more="file_system: {data_repository: {path: /data, bucket_name: A_b}, removal: retain}\n"),
            "file_system.data_repository.bucket_name",
            r"lower-case letters",
        ),
        (
            new(more="file_system: {efa_enabled: true, storage_capacity_gib: 7200}\n"),
            "file_system.storage_capacity_gib",
            r"for EFA",
        ),
    ],
)
def test_refuses(text: str, path: str, message: str, faults_in: Faults) -> None:
    said = [str(fault) for fault in faults_in(text)]
    pattern = rf"{re.escape(path)} \(line \d+\): .*{message}"
    assert [line for line in said if re.match(pattern, line)], said
    assert len(said) == len(set(said))


@pytest.mark.parametrize(
    "text",
    [
        in_eks(NEW, "kubernetes_version: '1.33'"),
        in_eks(NEW, "public_access_cidrs: [203.0.113.7/32]"),
        new((OCI, "oci://registry.example.com/hyperpod-helm-chart")),
        in_eks(NEW, f"administrator_role_arns: ['{ROLE}']"),
        in_eks(NEW, "add_on_versions: {vpc-cni: v1.20.4-eksbuild.1}"),
        new(more="  identity: irsa\n"),
        existing(more=f"  identity: irsa\n  issuer: https://{ISSUER}\n"),
        in_eks(
            existing(("installed: true", f"oci_uri: {OCI}\n    version: 0.1.0")),
            f"kubectl_role_arn: {ROLE}\n  cluster_security_group_id: sg-0123456789abcdef0",
        ),
        in_eks(
            existing(
                ("installed: true", f"oci_uri: {OCI}\n    version: 0.1.0"),
                ("  vpc_id: vpc-0123456789abcdef0\n", ""),
                more="file_system: null\n",
            ),
            f"kubectl_role_arn: {ROLE}",
        ),
        existing(
            (f"  cluster_arn: {ARN}\n", "  control_plane_subnet_ids: [subnet-01234567, subnet-12345678]\n"),
            ("installed: true", f"oci_uri: {OCI}\n    version: 0.1.0"),
        ),
        new(more="tiered_checkpointing: {enabled: false}\n"),
        new(more="auto_scaling: {}\n"),
        new(("usw2-az2\n", "usw2-az2\n  isolated: true\n")),
        new(more="file_system: {data_repository: {path: /data, prefix: corpus/}, removal: retain}\n"),
        new(
            more="file_system: {data_repository: {path: /, bucket_name: my-data, export_events: [NEW]}, "
            "removal: retain}\n"
        ),
        in_workers(
            NEW, "override_subnet_ids: [subnet-01234567]\n    override_security_group_ids: [sg-01234567]"
        ),
        in_workers(NEW, "kubernetes_labels: {example.com/team: a}\n    network_interface_type: efa-only"),
        in_workers(NEW, "capacity_type: spot"),
    ],
)
def test_does_not_refuse(text: str, load: Load) -> None:
    assert load(text).kind == "spec"


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (
            new(("training_pods:\n  namespace: kubeflow\n  service_account: trainer\n", "")),
            "training_pods (line 1): is not given, so that no pod may write the checkpoint_bucket",
        ),
        (
            new(more="tiered_checkpointing: {memory_percentage: 20}\ncheckpoint_bucket: null\n"),
            "tiered_checkpointing.s3_interval_steps (line 18): is not given and there is no check",
        ),
        (
            in_eks(NEW, "public_access_cidrs: [0.0.0.0/0]"),
            "eks.public_access_cidrs[0] (line 7): opens the Kub",
        ),
        (
            SPLIT_TIERS,
            "tiered_checkpointing (line 25): copies checkpoints between nodes of one subnet, and "
            "override_subnet_ids of group 'more' name another than the one that is made",
        ),
        (
            in_eks(NEW, "public_access_cidrs: [10.0.0.0/8]"),
            "eks.public_access_cidrs[0] (line 7): holds private addresses, from which nobody comes over the",
        ),
        (
            new(
                more="file_system: {data_repository: {path: /data, export_events: [NEW], "
                "export_makes_fsx_users_writers: true}, removal: retain}\n"
            ),
            "file_system.data_repository.export_events (line 18): export runs as a service role of FSx",
        ),
    ],
)
def test_warns(text: str, note: str, load: Load) -> None:
    notes = load(text).notes
    assert [line for line in notes if line.startswith(note)], notes


def test_groups_without_accelerators_may_live_in_another_subnet_than_the_tiers(load: Load) -> None:
    before, after = SPLIT_TIERS.split("  - name: more")
    text = f"{before}  - name: more{after.replace('ml.p5.48xlarge', 'ml.m5.large')}"
    assert not [note for note in load(text).notes if "between nodes of one subnet" in note]


def test_a_fault_in_the_orchestrator_hides_none_and_invents_none(faults_in: Faults) -> None:
    [fault] = faults_in(new(("orchestrator: eks", "orchestrator: ekss")))
    assert str(fault).startswith("orchestrator (line 3): must be one of 'slurm', 'eks', got 'ekss'")


@pytest.mark.parametrize(
    "text",
    [
        new(("availability_zone_ids: [usw2-az1, usw2-az2]", "availability_zone_ids: [1, 2]")),
        new((f"oci_uri: {OCI}", "oci_uri: 1")),
        new(("namespace: kubeflow", "namespace: 1")),
        new(more="tiered_checkpointing: {memory_percentage: lots, s3_interval_steps: 9}\n"),
        new(more="auto_scaling: {mode: 1}\n"),
        new(
            more="restricted_instance_groups: [{name: 1, instance_type: ml.p5.48xlarge, instance_count: 1}]\n"
        ),
        in_workers(NEW, "kubernetes_labels: {team: 1}"),
        in_workers(NEW, "scheduled_update: {schedule_expression: 1}"),
        existing((ARN, "1")),
    ],
)
def test_a_field_of_another_kind_is_one_fault(text: str, faults_in: Faults) -> None:
    faults = [fault for fault in faults_in(text) if fault.severity == "error"]
    assert all("got the number" in fault.message or "got 'lots'" in fault.message for fault in faults), faults
    assert faults


def test_the_folder_of_the_chart_is_relative_to_the_file(
    load: Load, faults_in: Faults, tmp_path: Path
) -> None:
    text = new((f"    oci_uri: {OCI}\n    version: 0.1.0\n", "    folder: chart\n"))
    (tmp_path / "chart").mkdir()
    [fault] = faults_in(text)
    assert str(fault) == (
        "eks.dependency_chart.folder (line 9): 'chart' is no Helm chart, it holds no Chart.yaml; give the "
        "folder that does"
    )
    (tmp_path / "chart" / "Chart.yaml").write_text("name: chart\n")
    assert load(text).spec.eks.dependency_chart.folder == str((tmp_path / "chart").resolve())


def test_a_cluster_of_restricted_groups_alone(load: Load) -> None:
    text = new(
        (
            "instance_groups:\n  - name: workers\n    instance_type: ml.p5.48xlarge\n    instance_count: 4\n",
            "instance_groups: []\nrestricted_instance_groups:\n"
            "  - {name: nova, instance_type: ml.p5.48xlarge, instance_count: 2}\n"
            "restricted_environment:\n"
            "  file_system: {storage_capacity_gib: 1200, throughput_mbps_per_tib: 250}\n",
        )
    )
    request = load(text).spec.to_request()
    assert "InstanceGroups" not in request
    [group] = request["RestrictedInstanceGroups"]
    assert group["ExecutionRole"] is UNKNOWN


def test_interfaces_without_addresses_leave_room(load: Load, faults_in: Faults) -> None:
    narrow = ("usw2-az2\n", "usw2-az2\n  accelerator_subnet_prefix_length: 24\n")
    assert load(in_workers(new(narrow), "network_interface_type: efa-only")).kind == "spec"
    [fault] = faults_in(new(narrow))
    assert fault.path == ("network", "accelerator_subnet_prefix_length")


def test_a_flexible_group_needs_room_for_its_hungriest_type(faults_in: Faults) -> None:
    text = new(
        ("instance_type: ml.p5.48xlarge", "instance_types: [ml.g5.xlarge, ml.p5.48xlarge]"),
        ("usw2-az2\n", "usw2-az2\n  accelerator_subnet_prefix_length: 25\n"),
    )
    [fault] = faults_in(text)
    assert "workers 4 x 81" in fault.message
