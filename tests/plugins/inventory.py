"""Lists what there is in an account and region, to tell what a stack has left behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from read_back import Clients

_EC2: Final[Mapping[str, tuple[str, str, str]]] = {
    "AWS::EC2::VPC": ("describe_vpcs", "Vpcs", "VpcId"),
    "AWS::EC2::Subnet": ("describe_subnets", "Subnets", "SubnetId"),
    "AWS::EC2::RouteTable": ("describe_route_tables", "RouteTables", "RouteTableId"),
    "AWS::EC2::InternetGateway": ("describe_internet_gateways", "InternetGateways", "InternetGatewayId"),
    "AWS::EC2::SecurityGroup": ("describe_security_groups", "SecurityGroups", "GroupId"),
    "AWS::EC2::SecurityGroupRule": (
        "describe_security_group_rules",
        "SecurityGroupRules",
        "SecurityGroupRuleId",
    ),
    "AWS::EC2::NetworkAcl": ("describe_network_acls", "NetworkAcls", "NetworkAclId"),
    "AWS::EC2::VPCEndpoint": ("describe_vpc_endpoints", "VpcEndpoints", "VpcEndpointId"),
    "AWS::EC2::FlowLog": ("describe_flow_logs", "FlowLogs", "FlowLogId"),
    "AWS::EC2::NetworkInterface": ("describe_network_interfaces", "NetworkInterfaces", "NetworkInterfaceId"),
}


def inventory(clients: Clients) -> dict[str, frozenset[str]]:
    """Return the physical ids of what the customer has, by type."""
    found = {kind: frozenset(_listed(clients.client("ec2"), *how)) for kind, how in _EC2.items()}
    return found | {kind: frozenset(look(clients)) for kind, look in _OTHERS.items()}


def difference(
    before: Mapping[str, frozenset[str]], after: Mapping[str, frozenset[str]]
) -> dict[str, frozenset[str]]:
    """Return what came, by type; types of which nothing came are left out."""
    return {kind: after[kind] - before[kind] for kind in after if after[kind] - before[kind]}


def _listed(client: Any, operation: str, member: str, key: str) -> Iterator[str]:
    for page in client.get_paginator(operation).paginate():
        yield from (one[key] for one in page[member])


def _nat_gateways(clients: Clients) -> Iterator[str]:
    for page in clients.client("ec2").get_paginator("describe_nat_gateways").paginate():
        yield from (one["NatGatewayId"] for one in page["NatGateways"] if one["State"] != "deleted")


def _addresses(clients: Clients) -> list[str]:
    return [one["PublicIp"] for one in clients.client("ec2").describe_addresses()["Addresses"]]


def _policies(clients: Clients) -> Iterator[str]:
    for page in clients.client("iam").get_paginator("list_policies").paginate(Scope="Local"):
        yield from (one["Arn"] for one in page["Policies"])


def _issuers(clients: Clients) -> list[str]:
    found = clients.client("iam").list_open_id_connect_providers()["OpenIDConnectProviderList"]
    return [one["Arn"] for one in found]


def _layers(clients: Clients) -> Iterator[str]:
    functions = clients.client("lambda")
    for name in _listed(functions, "list_layers", "Layers", "LayerName"):
        for page in functions.get_paginator("list_layer_versions").paginate(LayerName=name):
            yield from (one["LayerVersionArn"] for one in page["LayerVersions"])


def _buckets(clients: Clients) -> list[str]:
    return [one["Name"] for one in clients.client("s3").list_buckets()["Buckets"]]


def _keys(clients: Clients) -> Iterator[str]:
    """List keys that work: one that is deleted goes on to be told of for days."""
    kms = clients.client("kms")
    for id in _listed(kms, "list_keys", "Keys", "KeyId"):
        described = kms.describe_key(KeyId=id)["KeyMetadata"]
        if described["KeyState"] != "PendingDeletion" and described["KeyManager"] == "CUSTOMER":
            yield id


def _file_systems(clients: Clients) -> list[str]:
    return [one["FileSystemId"] for one in clients.client("fsx").describe_file_systems()["FileSystems"]]


def _backups(clients: Clients) -> list[str]:
    return [one["BackupId"] for one in clients.client("fsx").describe_backups()["Backups"]]


def _links(clients: Clients) -> list[str]:
    found = clients.client("fsx").describe_data_repository_associations()["Associations"]
    return [one["AssociationId"] for one in found]


def _hyperpod_clusters(clients: Clients) -> list[str]:
    return [one["ClusterName"] for one in clients.client("sagemaker").list_clusters()["ClusterSummaries"]]


def _eks_clusters(clients: Clients) -> list[str]:
    found: list[str] = clients.client("eks").list_clusters()["clusters"]
    return found


def _alarms(clients: Clients) -> Iterator[str]:
    for page in clients.client("cloudwatch").get_paginator("describe_alarms").paginate():
        yield from (one["AlarmName"] for one in page["MetricAlarms"])


def _insight_rules(clients: Clients) -> list[str]:
    return [one["Name"] for one in clients.client("cloudwatch").describe_insight_rules()["InsightRules"]]


def _log_policies(clients: Clients) -> list[str]:
    found = clients.client("logs").describe_resource_policies()["resourcePolicies"]
    return [one["policyName"] for one in found]


def _metric_filters(clients: Clients) -> Iterator[str]:
    return _listed(clients.client("logs"), "describe_metric_filters", "metricFilters", "filterName")


def _budgets(clients: Clients) -> list[str]:
    account = clients.client("sts").get_caller_identity()["Account"]
    found = clients.client("budgets").describe_budgets(AccountId=account)
    return [one["BudgetName"] for one in found.get("Budgets", [])]


_OTHERS: Final[Mapping[str, Callable[[Clients], Any]]] = {
    "AWS::EC2::NatGateway": _nat_gateways,
    "AWS::EC2::EIP": _addresses,
    "AWS::IAM::Role": lambda clients: _listed(clients.client("iam"), "list_roles", "Roles", "RoleName"),
    "AWS::IAM::ManagedPolicy": _policies,
    "AWS::IAM::OIDCProvider": _issuers,
    "AWS::Lambda::Function": lambda clients: _listed(
        clients.client("lambda"), "list_functions", "Functions", "FunctionName"
    ),
    "AWS::Lambda::LayerVersion": _layers,
    "AWS::Logs::LogGroup": lambda clients: _listed(
        clients.client("logs"), "describe_log_groups", "logGroups", "logGroupName"
    ),
    "AWS::Logs::MetricFilter": _metric_filters,
    "AWS::Logs::ResourcePolicy": _log_policies,
    "AWS::CloudWatch::Alarm": _alarms,
    "AWS::CloudWatch::InsightRule": _insight_rules,
    "AWS::CloudWatch::Dashboard": lambda clients: _listed(
        clients.client("cloudwatch"), "list_dashboards", "DashboardEntries", "DashboardName"
    ),
    "AWS::Events::Rule": lambda clients: _listed(clients.client("events"), "list_rules", "Rules", "Name"),
    "AWS::SNS::Topic": lambda clients: _listed(clients.client("sns"), "list_topics", "Topics", "TopicArn"),
    "AWS::SNS::Subscription": lambda clients: _listed(
        clients.client("sns"), "list_subscriptions", "Subscriptions", "SubscriptionArn"
    ),
    "AWS::SageMaker::ClusterSchedulerConfig": lambda clients: _listed(
        clients.client("sagemaker"),
        "list_cluster_scheduler_configs",
        "ClusterSchedulerConfigSummaries",
        "ClusterSchedulerConfigId",
    ),
    "AWS::SageMaker::ComputeQuota": lambda clients: _listed(
        clients.client("sagemaker"), "list_compute_quotas", "ComputeQuotaSummaries", "ComputeQuotaId"
    ),
    "AWS::Budgets::Budget": _budgets,
    "AWS::APS::Workspace": lambda clients: _listed(
        clients.client("amp"), "list_workspaces", "workspaces", "workspaceId"
    ),
    "AWS::Grafana::Workspace": lambda clients: _listed(
        clients.client("grafana"), "list_workspaces", "workspaces", "id"
    ),
    "AWS::S3::Bucket": _buckets,
    "AWS::KMS::Key": _keys,
    "AWS::SSM::Parameter": lambda clients: _listed(
        clients.client("ssm"), "describe_parameters", "Parameters", "Name"
    ),
    "AWS::FSx::FileSystem": _file_systems,
    "AWS::FSx::Backup": _backups,
    "AWS::FSx::DataRepositoryAssociation": _links,
    "AWS::SageMaker::Cluster": _hyperpod_clusters,
    "AWS::EKS::Cluster": _eks_clusters,
}
