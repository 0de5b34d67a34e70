"""Helm charts in the double: their release is kept if the CDK's function could have installed it."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from botocore.exceptions import ClientError
from local_resources import create, delete, update
from training_parts import Parts

from aws_double.progress import CREATION_SECONDS
from aws_double.resource import Resource, ResourceFailure
from aws_double.services.eks.api import clusters_of
from aws_double.session import Session

MANIFEST = "Custom::AWSCDK-EKS-KubernetesResource"
CHART = "Custom::AWSCDK-EKS-HelmChart"
ADMIN = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
VIEW = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CREATION_SECONDS, "0")


class Installer:
    """An EKS cluster with a private API, and the CDK's two functions in a group of their own."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.session = parts.session
        self.control_plane, self.kubectl = parts.group(), parts.group()
        self.cluster = parts.eks_cluster(
            ResourcesVpcConfig={
                "SubnetIds": parts.eks_subnets(),
                "SecurityGroupIds": [self.control_plane],
                "EndpointPrivateAccess": True,
                "EndpointPublicAccess": False,
            },
            Tags=[],
        ).physical_id
        self.role = parts.role(service="lambda.amazonaws.com", actions=("ec2:*", "s3:*"))
        network = {"SubnetIds": [parts.subnet], "SecurityGroupIds": [self.kubectl]}
        handler = self.function("handler", VpcConfig=network)
        framework = self.function(
            "framework", Environment={"Variables": {"USER_ON_EVENT_FUNCTION_ARN": handler}}
        )
        self.properties = {
            "ServiceToken": framework,
            "ClusterName": self.cluster,
            "Release": "hyperpod-dependencies",
            "Namespace": "kube-system",
            "Chart": "hyperpod-helm-chart",
            "Repository": "oci://111122223333.dkr.ecr.us-west-2.amazonaws.com/hyperpod-helm-chart",
            "Version": "0.1.0",
            "Values": '{"a": 1}',
            "Timeout": "840s",
        }

    def function(self, name: str, **properties: Any) -> str:
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as content:
            content.writestr("index.py", "")
        made = self.session.client("lambda").create_function(
            FunctionName=f"{self.parts.name}-{name}",
            Role=self.role,
            Handler="index.handler",
            Runtime="python3.13",
            Code={"ZipFile": archive.getvalue()},
            **properties,
        )
        return str(made["FunctionArn"])

    def give_access(self, policy: str = ADMIN, **scope: Any) -> Resource:
        scope = scope if scope else {"Type": "cluster"}
        policies = [{"PolicyArn": policy, "AccessScope": scope}]
        return create(
            self.session,
            "AWS::EKS::AccessEntry",
            ClusterName=self.cluster,
            PrincipalArn=self.role,
            AccessPolicies=policies,
        )

    def open(self) -> list[Resource]:
        ports = (443, 443)
        return [
            self.parts.open(self.kubectl, "Egress", self.control_plane, ports),
            self.parts.open(self.control_plane, "Ingress", self.kubectl, ports),
        ]

    def releases(self) -> dict[tuple[str, str], dict[str, Any]]:
        return clusters_of(self.session.region)[self.cluster].releases


@pytest.fixture
def installer(root: Session) -> Installer:
    return Installer(Parts(root))


def test_a_release_comes_changes_and_goes(root: Session, installer: Installer) -> None:
    installer.give_access()
    installer.open()
    made = create(root, CHART, **installer.properties)
    assert installer.releases() == {("kube-system", "hyperpod-dependencies"): {"a": 1}}
    made = update(root, made, **{**installer.properties, "Values": '{"a": 2}'})
    assert installer.releases() == {("kube-system", "hyperpod-dependencies"): {"a": 2}}
    delete(root, made)
    assert installer.releases() == {}


def test_objects_of_a_manifest_come_change_and_go(root: Session, installer: Installer) -> None:
    token = installer.properties["ServiceToken"]
    fixed = {"ServiceToken": token, "ClusterName": installer.cluster}

    def manifest(**labels: str) -> str:
        objects = [
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"is": value}}}
            for name, value in labels.items()
        ]
        return json.dumps(objects)

    def there() -> dict[str, str]:
        kept = clusters_of(root.region)[installer.cluster].objects
        return {key[2]: one["metadata"]["labels"]["is"] for key, one in kept.items()}

    with pytest.raises(ResourceFailure, match="Unauthorized"):
        create(root, MANIFEST, **fixed, Manifest=manifest(a="1"))
    installer.give_access()
    installer.open()
    made = create(root, MANIFEST, **fixed, Manifest=manifest(a="1", b="1"))
    with pytest.raises(ResourceFailure, match=r"\(AlreadyExists\): ConfigMap//b"):
        create(root, MANIFEST, **fixed, Manifest=manifest(b="2"))
    made = update(root, made, **fixed, Manifest=manifest(a="2", c="1"))
    assert there() == {"a": "2", "c": "1"}
    delete(root, made)
    assert there() == {}
    with pytest.raises(ResourceFailure, match=r"kind and metadata\.name must be set"):
        create(root, MANIFEST, **fixed, Manifest='[{"kind": "ConfigMap"}]')


@pytest.mark.parametrize("missing", [0, 1])
def test_the_function_has_to_reach_the_private_api(root: Session, installer: Installer, missing: int) -> None:
    installer.give_access()
    delete(root, installer.open()[missing])
    with pytest.raises(
        ResourceFailure, match=r"Kubernetes cluster unreachable: no (egress|ingress) of tcp 443"
    ):
        create(root, CHART, **installer.properties)


def test_the_function_needs_an_access_entry(root: Session, installer: Installer) -> None:
    installer.open()
    with pytest.raises(ResourceFailure, match="Unauthorized"):
        create(root, CHART, **installer.properties)


@pytest.mark.parametrize(
    ("policy", "scope"), [(VIEW, {}), (ADMIN, {"Type": "namespace", "Namespaces": ["default"]})]
)
def test_less_than_administration_of_the_cluster_is_not_enough(
    root: Session, installer: Installer, policy: str, scope: dict[str, Any]
) -> None:
    installer.open()
    installer.give_access(policy, **scope)
    with pytest.raises(ResourceFailure, match="Unauthorized"):
        create(root, CHART, **installer.properties)


def test_it_cannot_be_uninstalled_once_access_is_gone(root: Session, installer: Installer) -> None:
    entry = installer.give_access()
    installer.open()
    made = create(root, CHART, **installer.properties)
    delete(root, entry)
    with pytest.raises(ResourceFailure, match="Unauthorized"):
        delete(root, made)


def test_it_is_gone_with_its_cluster(root: Session, installer: Installer) -> None:
    installer.give_access()
    installer.open()
    made = create(root, CHART, **installer.properties)
    root.client("eks").delete_cluster(name=installer.cluster)
    delete(root, made)


def test_a_chart_from_a_folder_has_to_be_uploaded_and_read_by_the_function(
    root: Session, installer: Installer
) -> None:
    installer.give_access()
    installer.open()
    bucket = installer.parts.bucket()
    asset = {"ChartAssetURL": f"s3://{bucket}/chart.zip"}
    kept = {
        key: value
        for key, value in installer.properties.items()
        if key not in ("Chart", "Repository", "Version")
    }
    with pytest.raises(ClientError, match="NoSuchKey"):
        create(root, CHART, **kept, **asset)
    root.client("s3").put_object(Bucket=bucket, Key="chart.zip", Body=b"")
    assert create(root, CHART, **kept, **asset)
    name = installer.role.rpartition("/")[2]
    root.client("iam").delete_role_policy(RoleName=name, PolicyName="all")
    with pytest.raises(ClientError, match="AccessDenied"):
        create(root, CHART, **kept, **asset)
    with pytest.raises(ResourceFailure, match="one of Chart and ChartAssetURL"):
        create(root, CHART, **kept)
