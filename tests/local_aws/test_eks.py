"""EKS in the double: clusters, add-ons, access entries and pod identities, by API and CloudFormation."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from botocore.exceptions import ClientError
from local_resources import create, delete, update
from read_back import READERS
from told import assert_gone, assert_told
from training_parts import Parts

from aws_double import usage
from aws_double.progress import CREATION_SECONDS
from aws_double.resource import TYPES, ResourceFailure
from aws_double.session import Session

CLUSTER = "AWS::EKS::Cluster"
ADD_ON = "AWS::EKS::Addon"
ENTRY = "AWS::EKS::AccessEntry"
ASSOCIATION = "AWS::EKS::PodIdentityAssociation"
ADMIN = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
VIEW = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CREATION_SECONDS, "0")


@pytest.fixture
def parts(root: Session) -> Parts:
    return Parts(root)


@pytest.fixture
def eks(root: Session) -> Any:
    return root.client("eks")


def control_plane(parts: Parts, **changes: Any) -> dict[str, Any]:
    return {
        "Name": parts.name,
        "RoleArn": parts.role(service="eks.amazonaws.com"),
        "Version": "1.33",
        "ResourcesVpcConfig": {
            "SubnetIds": parts.eks_subnets(),
            "SecurityGroupIds": [parts.group()],
            "EndpointPrivateAccess": True,
            "EndpointPublicAccess": False,
        },
        "AccessConfig": {"AuthenticationMode": "API", "BootstrapClusterCreatorAdminPermissions": False},
        "EncryptionConfig": [
            {
                "Provider": {"KeyArn": "arn:aws:kms:us-west-2:111122223333:key/one"},
                "Resources": ["secrets"],
            }
        ],
        "Logging": {"ClusterLogging": {"EnabledTypes": [{"Type": "audit"}, {"Type": "api"}]}},
        "ComputeConfig": {"Enabled": False},
        "KubernetesNetworkConfig": {"IpFamily": "ipv4", "ElasticLoadBalancing": {"Enabled": False}},
        "StorageConfig": {"BlockStorage": {"Enabled": False}},
        "Tags": [{"Key": "team", "Value": "research"}],
        **changes,
    }


def test_it_is_active_when_it_is_made_and_told_as_it_was_asked_for(
    root: Session, parts: Parts, eks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CREATION_SECONDS, "0.1")
    made = create(root, CLUSTER, **control_plane(parts))
    found = eks.describe_cluster(name=made.physical_id)["cluster"]
    assert found["status"] == "ACTIVE"
    assert made.attributes["OpenIdConnectIssuerUrl"] == found["identity"]["oidc"]["issuer"]
    assert re.fullmatch(
        r"https://oidc\.eks\.us-west-2\.amazonaws\.com/id/[0-9A-F]{32}",
        made.attributes["OpenIdConnectIssuerUrl"],
    )
    assert made.attributes["Arn"] == f"arn:aws:eks:us-west-2:111122223333:cluster/{parts.name}"
    assert found["resourcesVpcConfig"]["vpcId"] == parts.vpc
    assert_told(root, made)
    delete(root, made)
    assert_gone(root, made)
    delete(root, made)


def test_each_cluster_has_an_issuer_of_its_own(root: Session, parts: Parts) -> None:
    issuers = {one.eks_cluster().attributes["OpenIdConnectIssuerUrl"] for one in (parts, Parts(root))}
    assert len(issuers) == 2


def test_it_holds_what_it_uses_and_its_own_group_goes_with_it(root: Session, parts: Parts) -> None:
    asked, ec2 = control_plane(parts), root.client("ec2")
    made = create(root, CLUSTER, **asked)
    own = made.attributes["ClusterSecurityGroupId"]
    (group,) = ec2.describe_security_groups(GroupIds=[own])["SecurityGroups"]
    itself = [pair["GroupId"] for rule in group["IpPermissions"] for pair in rule["UserIdGroupPairs"]]
    assert itself == [own]
    used = [asked["RoleArn"], *asked["ResourcesVpcConfig"]["SubnetIds"], own]
    assert [usage.holders(one) for one in used] == [[made.attributes["Arn"]]] * len(used)
    delete(root, made)
    assert [usage.holders(one) for one in used] == [[]] * len(used)
    with pytest.raises(ClientError, match=r"InvalidGroup\.NotFound"):
        ec2.describe_security_groups(GroupIds=[own])


def test_each_setting_changes_in_place(root: Session, parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    before = control_plane(parts, AccessConfig={"AuthenticationMode": "API_AND_CONFIG_MAP"})
    made = create(root, CLUSTER, **before)
    monkeypatch.setenv(CREATION_SECONDS, "0.05")
    network = {
        **before["ResourcesVpcConfig"],
        "SecurityGroupIds": [parts.group()],
        "EndpointPublicAccess": True,
        "PublicAccessCidrs": ["192.0.2.0/24"],
    }
    after = {
        **before,
        "Version": "1.34",
        "ResourcesVpcConfig": network,
        "AccessConfig": {"AuthenticationMode": "API"},
        "Logging": {"ClusterLogging": {"EnabledTypes": [{"Type": "scheduler"}]}},
        "DeletionProtection": True,
        "Tags": [{"Key": "owner", "Value": "somebody"}],
    }
    made = update(root, made, **after)
    assert_told(root, made)
    with pytest.raises(ClientError, match="deletion protection"):
        delete(root, made)


@pytest.mark.parametrize(
    ("change", "replaced"),
    [
        ({"Name": "other"}, True),
        ({"RoleArn": "arn:aws:iam::111122223333:role/other"}, True),
        ({"EncryptionConfig": []}, True),
        (
            {"AccessConfig": {"AuthenticationMode": "API", "BootstrapClusterCreatorAdminPermissions": True}},
            True,
        ),
        ({"KubernetesNetworkConfig": {"IpFamily": "ipv6"}}, True),
        ({"Version": "1.34"}, False),
        ({"ResourcesVpcConfig": {"SubnetIds": []}}, False),
    ],
)
def test_what_is_create_only_replaces_it(parts: Parts, change: dict[str, Any], replaced: bool) -> None:
    before = control_plane(parts)
    assert TYPES[CLUSTER].replaces(before, {**before, **change}) is replaced


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"RoleArn": "arn:aws:iam::111122223333:role/nobody"}, "could not be assumed"),
        ({"ResourcesVpcConfig": {"SubnetIds": ["subnet-1", "subnet-2"]}}, "do not exist: subnet-1, subnet-2"),
        ({"ComputeConfig": {"Enabled": True}}, "either fully enabled or fully disabled"),
        ({"Logging": {"ClusterLogging": {"EnabledTypes": [{"Type": "kitchen"}]}}}, "'kitchen' is none of"),
    ],
)
def test_impossible_clusters_are_refused(
    root: Session, parts: Parts, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(Exception, match=message):
        create(root, CLUSTER, **control_plane(parts, **change))


def test_the_role_has_to_trust_eks(root: Session, parts: Parts) -> None:
    with pytest.raises(ClientError, match="the trusted entity is not correct"):
        create(root, CLUSTER, **control_plane(parts, RoleArn=parts.role()))


def test_subnets_are_in_two_zones(root: Session, parts: Parts) -> None:
    with pytest.raises(ClientError, match="at least two different AZs"):
        create(root, CLUSTER, **control_plane(parts, ResourcesVpcConfig={"SubnetIds": [parts.subnet]}))


def test_names_are_taken_once(parts: Parts, eks: Any) -> None:
    parts.eks_cluster()
    with pytest.raises(eks.exceptions.ResourceInUseException, match="already exists"):
        parts.eks_cluster()


def test_one_change_at_a_time(parts: Parts, eks: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    name = parts.eks_cluster().physical_id
    with pytest.raises(ClientError, match="Only one type of update"):
        eks.update_cluster_config(
            name=name, deletionProtection=True, accessConfig={"authenticationMode": "API"}
        )
    monkeypatch.setenv(CREATION_SECONDS, "0.3")
    done = eks.update_cluster_config(name=name, deletionProtection=True)["update"]
    assert eks.describe_update(name=name, updateId=done["id"])["update"]["status"] == "InProgress"
    with pytest.raises(eks.exceptions.ResourceInUseException):
        eks.update_cluster_config(name=name, deletionProtection=False)
    time.sleep(0.35)
    assert eks.describe_update(name=name, updateId=done["id"])["update"]["status"] == "Successful"


@pytest.mark.parametrize("version", ["1.32", "1.33", "1.35"])
def test_versions_go_up_one_by_one(parts: Parts, eks: Any, version: str) -> None:
    name = parts.eks_cluster(Version="1.33").physical_id
    with pytest.raises(ClientError, match="Unsupported Kubernetes minor version update"):
        eks.update_cluster_version(name=name, version=version)
    assert eks.update_cluster_version(name=name, version="1.34")


def test_there_is_no_way_back_from_access_entries(parts: Parts, eks: Any) -> None:
    name = parts.eks_cluster().physical_id
    with pytest.raises(ClientError, match="Unsupported authentication mode update"):
        eks.update_cluster_config(name=name, accessConfig={"authenticationMode": "CONFIG_MAP"})


def test_clusters_are_listed_by_page(root: Session, eks: Any) -> None:
    made = {Parts(root).eks_cluster().physical_id for _ in range(2)}
    pages = list(eks.get_paginator("list_clusters").paginate(PaginationConfig={"PageSize": 1}))
    assert made <= {name for page in pages for name in page["clusters"]}
    assert all(len(page["clusters"]) == 1 for page in pages)


def test_operations_that_the_double_lacks_are_refused(eks: Any) -> None:
    with pytest.raises(ClientError, match="eks:ListNodegroups is not in this double"):
        eks.list_nodegroups(clusterName="x")


def test_an_add_on_comes_changes_and_goes(root: Session, parts: Parts, eks: Any) -> None:
    name = parts.eks_cluster().physical_id
    first = {"ClusterName": name, "AddonName": "vpc-cni", "ConfigurationValues": '{"env": {"A": "true"}}'}
    made = create(root, ADD_ON, **first, ResolveConflicts="OVERWRITE", Tags=[{"Key": "a", "Value": "1"}])
    told = READERS[ADD_ON](root, made.physical_id, made.properties)
    assert {**told, "ResolveConflicts": "OVERWRITE"} == {
        **made.properties,
        "AddonVersion": "v1.18.3-eksbuild.1",
    }
    second = {**first, "AddonVersion": "v1.20.0-eksbuild.1", "ServiceAccountRoleArn": parts.role()}
    made = update(root, made, **second)
    assert_told(root, made)
    assert eks.list_addons(clusterName=name)["addons"] == ["vpc-cni"]
    delete(root, made)
    assert_gone(root, made)
    delete(root, made)


def test_pod_identities_come_with_an_add_on(root: Session, parts: Parts, eks: Any) -> None:
    name, role, other = parts.eks_cluster().physical_id, parts.role(), parts.role()
    asked = {"ClusterName": name, "AddonName": "vpc-cni"}
    one = [{"ServiceAccount": "aws-node", "RoleArn": role}]
    made = create(root, ADD_ON, **asked, PodIdentityAssociations=one)
    assert_told(root, made)
    (listed,) = eks.list_pod_identity_associations(clusterName=name)["associations"]
    assert (listed["namespace"], listed["ownerArn"]) == ("kube-system", made.attributes["Arn"])
    made = update(
        root, made, **asked, PodIdentityAssociations=[{"ServiceAccount": "aws-node", "RoleArn": other}]
    )
    assert_told(root, made)
    delete(root, made)
    assert eks.list_pod_identity_associations(clusterName=name)["associations"] == []


def test_an_add_on_whose_pods_need_nodes_waits_for_them(root: Session, parts: Parts, eks: Any) -> None:
    name = parts.eks_cluster().physical_id
    with pytest.raises(ResourceFailure, match=r"is DEGRADED: InsufficientNumberOfReplicas"):
        create(root, ADD_ON, ClusterName=name, AddonName="coredns")
    eks.delete_addon(clusterName=name, addonName="coredns")
    arn = eks.describe_cluster(name=name)["cluster"]["arn"]
    parts.route_to_s3()
    group = {
        "InstanceGroupName": "system",
        "InstanceType": "ml.m5.2xlarge",
        "InstanceCount": 2,
        "ExecutionRole": parts.role(),
    }
    api = root.client("sagemaker")
    api.create_cluster(
        ClusterName=name,
        InstanceGroups=[group],
        Orchestrator={"Eks": {"ClusterArn": arn}},
        VpcConfig={"SecurityGroupIds": [parts.group()], "Subnets": [parts.subnet]},
    )
    assert create(root, ADD_ON, ClusterName=name, AddonName="coredns")
    api.update_cluster(ClusterName=name, InstanceGroups=[{**group, "InstanceCount": 0}])
    assert eks.describe_addon(clusterName=name, addonName="coredns")["addon"]["status"] == "DEGRADED"


def test_nodes_that_are_none_of_hyperpod_count(root: Session, parts: Parts) -> None:
    name = parts.eks_cluster(Tags=[{"Key": "aws-double:nodes", "Value": "3"}]).physical_id
    assert create(root, ADD_ON, ClusterName=name, AddonName="coredns")


def test_an_add_on_comes_after_those_that_it_requires(root: Session, parts: Parts) -> None:
    name = parts.eks_cluster(Tags=[{"Key": "aws-double:nodes", "Value": "3"}]).physical_id
    for required in ("cert-manager", "eks-pod-identity-agent"):
        with pytest.raises(ClientError, match=f"needs {required} first"):
            create(root, ADD_ON, ClusterName=name, AddonName="amazon-sagemaker-hyperpod-training-operator")
        create(root, ADD_ON, ClusterName=name, AddonName=required)
    assert create(root, ADD_ON, ClusterName=name, AddonName="amazon-sagemaker-hyperpod-training-operator")


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"ServiceAccountRoleArn": "arn:aws:iam::111122223333:role/nobody"}, "does not exist"),
        (
            {
                "PodIdentityAssociations": [
                    {"ServiceAccount": "a", "RoleArn": "arn:aws:iam::111122223333:role/nobody"}
                ]
            },
            "does not exist",
        ),
        ({"ResolveConflicts": "SHOUT"}, "'SHOUT' is none of"),
    ],
)
def test_impossible_add_ons_are_refused(
    root: Session, parts: Parts, eks: Any, properties: dict[str, Any], message: str
) -> None:
    name = parts.eks_cluster().physical_id
    with pytest.raises(Exception, match=message):
        create(root, ADD_ON, ClusterName=name, AddonName="vpc-cni", **properties)
    assert eks.list_addons(clusterName=name)["addons"] == []


def test_an_access_entry_comes_changes_and_goes(root: Session, parts: Parts) -> None:
    asked = {"ClusterName": parts.eks_cluster().physical_id, "PrincipalArn": parts.role(), "Type": "STANDARD"}
    policies = [
        {"PolicyArn": VIEW, "AccessScope": {"Type": "namespace", "Namespaces": ["a", "b"]}},
        {"PolicyArn": ADMIN, "AccessScope": {"Type": "cluster"}},
    ]
    made = create(root, ENTRY, **asked, AccessPolicies=policies, KubernetesGroups=["viewers"])
    assert_told(root, made)
    narrower = [{"PolicyArn": VIEW, "AccessScope": {"Type": "namespace", "Namespaces": ["a"]}}]
    made = update(
        root, made, **asked, AccessPolicies=narrower, Username="somebody", Tags=[{"Key": "a", "Value": "1"}]
    )
    assert_told(root, made)
    assert READERS[ENTRY](root, made.physical_id, made.properties)["KubernetesGroups"] == []
    delete(root, made)
    assert_gone(root, made)
    delete(root, made)


def test_an_access_entry_is_for_somebody_who_exists(root: Session, parts: Parts) -> None:
    name = parts.eks_cluster().physical_id
    with pytest.raises(ClientError, match="The specified principalArn is invalid"):
        create(root, ENTRY, ClusterName=name, PrincipalArn="arn:aws:iam::111122223333:role/nobody")


def test_a_cluster_without_the_api_mode_takes_no_access_entries(root: Session, parts: Parts) -> None:
    name = parts.eks_cluster(AccessConfig={"AuthenticationMode": "CONFIG_MAP"}).physical_id
    with pytest.raises(ClientError, match="authentication mode must be set to one of"):
        create(root, ENTRY, ClusterName=name, PrincipalArn=parts.role())


def test_access_policies_are_those_of_eks(parts: Parts, eks: Any) -> None:
    name, role = parts.eks_cluster().physical_id, parts.role()
    eks.create_access_entry(clusterName=name, principalArn=role)
    assert eks.list_access_entries(clusterName=name)["accessEntries"] == [role]
    with pytest.raises(ClientError, match="policyArn parameter format is not valid"):
        eks.associate_access_policy(
            clusterName=name,
            principalArn=role,
            policyArn="arn:aws:iam::aws:policy/AdministratorAccess",
            accessScope={"type": "cluster"},
        )


def test_a_pod_identity_comes_changes_and_goes(root: Session, parts: Parts) -> None:
    asked = {
        "ClusterName": parts.eks_cluster().physical_id,
        "Namespace": "kubeflow",
        "ServiceAccount": "trainer",
    }
    made = create(root, ASSOCIATION, **asked, RoleArn=parts.role(), Tags=[{"Key": "a", "Value": "1"}])
    assert made.physical_id == made.attributes["AssociationArn"]
    assert_told(root, made)
    made = update(root, made, **asked, RoleArn=parts.role(), DisableSessionTags=True)
    assert_told(root, made)
    delete(root, made)
    assert_gone(root, made)
    delete(root, made)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"RoleArn": "arn:aws:iam::111122223333:role/nobody"}, "Role provided in the request does not exist"),
        ({"Policy": "{}"}, "disableSessionTags must be true"),
        ({}, "Association already exists"),
    ],
)
def test_impossible_pod_identities_are_refused(
    root: Session, parts: Parts, change: dict[str, str], message: str
) -> None:
    asked = {
        "ClusterName": parts.eks_cluster().physical_id,
        "Namespace": "kubeflow",
        "ServiceAccount": "trainer",
        "RoleArn": parts.role(),
    }
    create(root, ASSOCIATION, **asked)
    with pytest.raises(ClientError, match=message):
        create(root, ASSOCIATION, **{**asked, **({"Namespace": "other", **change} if change else {})})
