"""Prometheus, Grafana, Container Insights and the figures of recoveries."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from aws_cdk import App, CfnParameter, Environment, Stack, assertions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from clusters import cluster, stack
from registry_schema import registry_violations
from stacks import only, resources

from hyperpod_constructs.container_insights import ContainerInsights
from hyperpod_constructs.dependency_chart import DependencyChart
from hyperpod_constructs.eks_control_plane import EksControlPlane, EksControlPlaneBase
from hyperpod_constructs.hyperpod_cluster import HyperPodCluster
from hyperpod_constructs.hyperpod_observability_add_on import HyperPodObservabilityAddOn
from hyperpod_constructs.instance_group import InstanceGroup
from hyperpod_constructs.managed_grafana import ManagedGrafana
from hyperpod_constructs.managed_prometheus import (
    EXISTING_TOPIC_WARNING,
    NAMES_NOTE,
    NO_READER_WARNING,
    ManagedPrometheus,
)
from hyperpod_constructs.notice_topic import NoticeTopic
from hyperpod_constructs.orchestrator import Orchestrator
from hyperpod_constructs.recovery_figures import RecoveryFigures
from hyperpod_model.catalog.recovery import RECOVERY_STAGES
from hyperpod_model.faults import InvalidInputError

EKS_ARN = "arn:aws:eks:us-west-2:111122223333:cluster/training"
WORKSPACE, RULES, GRAFANA = "AWS::APS::Workspace", "AWS::APS::RuleGroupsNamespace", "AWS::Grafana::Workspace"
ADD_ON, ASSOCIATION = "AWS::EKS::Addon", "AWS::EKS::PodIdentityAssociation"
POLICY, ROLE, FILTER = "AWS::IAM::ManagedPolicy", "AWS::IAM::Role", "AWS::Logs::MetricFilter"
TYPES = (WORKSPACE, RULES, GRAFANA, ADD_ON, ASSOCIATION, POLICY, ROLE, FILTER)
READS = ["aps:QueryMetrics", "aps:GetLabels", "aps:GetSeries", "aps:GetMetricMetadata"]


def on_eks(where: Stack) -> tuple[EksControlPlaneBase, HyperPodCluster]:
    control_plane = EksControlPlane.from_existing(
        where, "Eks", cluster_arn=EKS_ARN, dependency_chart=DependencyChart.installed()
    )
    group = InstanceGroup(name="workers", instance_type="ml.p5.48xlarge", instance_count=4)
    made = cluster(where, orchestrator=Orchestrator.eks(control_plane), instance_groups=[group])
    return control_plane, made


def rendered(where: Stack) -> dict[str, Any]:
    return dict(assertions.Template.from_stack(where).to_json())


def text_of(value: Any) -> str:
    """A text of a template, with what is known only at deployment as one word."""
    if isinstance(value, str):
        return value
    _, parts = value["Fn::Join"]
    return "".join(part if isinstance(part, str) else "ARN" for part in parts)


def statements_of(template: dict[str, Any], role: str) -> list[Any]:
    found = [
        policy["Properties"]["PolicyDocument"]["Statement"]
        for policy in resources(template, POLICY).values()
        if {"Ref": role} in policy["Properties"]["Roles"]
    ]
    return [statement for statements in found for statement in statements]


def messages(where: Stack, path: str, kind: str) -> list[str]:
    annotations = assertions.Annotations.from_stack(where)
    found = {"warning": annotations.find_warning, "info": annotations.find_info}[kind](
        path, assertions.Match.any_value()
    )
    return [str(one.entry.data) for one in found]


@pytest.fixture(scope="module")
def everything() -> dict[str, Any]:
    where = stack()
    control_plane, made = on_eks(where)
    prometheus = ManagedPrometheus(
        where,
        "Prometheus",
        cluster=made,
        notices=NoticeTopic(where, "Notices", emails=["oncall@example.com"]),
        encryption_key=kms.Key(where, "DataKey"),
    )
    HyperPodObservabilityAddOn(
        where, "AddOn", control_plane=control_plane, cluster=made, prometheus=prometheus
    )
    ContainerInsights(where, "Insights", control_plane=control_plane, cluster=made, version="v4.0.0")
    ManagedGrafana(where, "Grafana", cluster=made, prometheus=prometheus)
    group = logs.LogGroup.from_log_group_name(where, "Records", "/records")
    RecoveryFigures(where, "Recovery", log_group=group, cluster_name=made.cluster_name)
    return rendered(where)


def test_the_registry_accepts_all_of_it(everything: dict[str, Any]) -> None:
    assert registry_violations(everything, region="us-west-2", kinds=TYPES) == []


class TestPrometheus:
    def test_the_alert_manager_tells_the_topic(self, everything: dict[str, Any]) -> None:
        _, workspace = only(everything, WORKSPACE)
        (key,) = (name for name in resources(everything, "AWS::KMS::Key") if name.startswith("DataKey"))
        assert workspace["Properties"]["KmsKeyArn"] == {"Fn::GetAtt": [key, "Arn"]}
        definition = yaml.safe_load(text_of(workspace["Properties"]["AlertManagerDefinition"]))
        said = yaml.safe_load(definition["alertmanager_config"])
        assert said["route"]["receiver"] == said["receivers"][0]["name"]
        (sent,) = said["receivers"][0]["sns_configs"]
        assert sent["topic_arn"] == "ARN"
        assert sent["sigv4"] == {"region": "us-west-2"}
        topic, _ = only(everything, "AWS::SNS::Topic")
        assert {"Ref": topic} in workspace["Properties"]["AlertManagerDefinition"]["Fn::Join"][1]

    def test_the_topic_admits_it_for_this_account_only(self, everything: dict[str, Any]) -> None:
        _, policy = only(everything, "AWS::SNS::TopicPolicy")
        (statement,) = (
            one
            for one in policy["Properties"]["PolicyDocument"]["Statement"]
            if one.get("Sid") == "PublishPrometheus"
        )
        assert statement["Principal"] == {"Service": "aps.amazonaws.com"}
        assert statement["Action"] == ["sns:Publish", "sns:GetTopicAttributes"]
        assert statement["Condition"]["StringEquals"] == {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}
        assert text_of(statement["Condition"]["ArnLike"]["aws:SourceArn"]).endswith(":workspace/*")

    def test_the_key_of_the_topic_admits_it_for_topics_of_this_account(
        self, everything: dict[str, Any]
    ) -> None:
        (statement,) = (
            one
            for key in resources(everything, "AWS::KMS::Key").values()
            for one in key["Properties"]["KeyPolicy"]["Statement"]
            if one.get("Sid") == "EncryptPrometheus"
        )
        assert statement["Principal"] == {"Service": "aps.amazonaws.com"}
        assert list(statement["Condition"]) == ["ArnLike"]
        assert list(statement["Condition"]["ArnLike"]) == ["kms:EncryptionContext:aws:sns:topicArn"]

    def test_rules_belong_to_the_workspace(self, everything: dict[str, Any]) -> None:
        workspace, _ = only(everything, WORKSPACE)
        _, rules = only(everything, RULES)
        assert rules["Properties"]["Workspace"] == {"Fn::GetAtt": [workspace, "Arn"]}
        assert yaml.safe_load(rules["Properties"]["Data"])["groups"]

    @pytest.mark.parametrize(
        ("limits", "alerts"),
        [
            ({}, ["HyperPodWaitTimeClimbing", "HyperPodQueueStuck", "HyperPodPreemptionsSpiking"]),
            ({"wait_alert_minutes": None}, ["HyperPodPreemptionsSpiking"]),
            ({"preemption_alert_count": None}, ["HyperPodWaitTimeClimbing", "HyperPodQueueStuck"]),
            ({"wait_alert_minutes": None, "preemption_alert_count": None}, []),
        ],
    )
    def test_an_alert_without_a_limit_is_left_out_and_figures_are_not(
        self, limits: dict[str, Any], alerts: list[str]
    ) -> None:
        where = stack()
        ManagedPrometheus(where, "Prometheus", cluster=cluster(where), **limits)
        _, rules = only(rendered(where), RULES)
        recorded, *alerting = yaml.safe_load(rules["Properties"]["Data"])["groups"]
        assert len(recorded["rules"]) == 5
        assert [rule["alert"] for group in alerting for rule in group["rules"]] == alerts

    def test_without_a_reader_there_is_a_warning_and_no_alert_manager(self) -> None:
        where = stack()
        ManagedPrometheus(where, "Prometheus", cluster=cluster(where), governance_rules=False)
        assert [NO_READER_WARNING in one for one in messages(where, "/Stack/Prometheus", "warning")] == [True]
        assert not messages(where, "/Stack/Prometheus", "info")
        template = rendered(where)
        assert "AlertManagerDefinition" not in only(template, WORKSPACE)[1]["Properties"]
        assert resources(template, RULES) == {}

    def test_an_existing_topic_is_told_and_warned_of(self) -> None:
        where = stack()
        arn = "arn:aws:sns:us-west-2:111122223333:oncall"
        topic = sns.Topic.from_topic_arn(where, "Topic", arn)
        ManagedPrometheus(where, "Prometheus", cluster=cluster(where), topic=topic)
        (warning,) = messages(where, "/Stack/Prometheus", "warning")
        assert EXISTING_TOPIC_WARNING in warning
        definition = only(rendered(where), WORKSPACE)[1]["Properties"]["AlertManagerDefinition"]
        assert arn in definition

    def test_the_doubt_about_the_names_is_said(self) -> None:
        where = stack()
        ManagedPrometheus(where, "Prometheus", cluster=cluster(where))
        (note,) = messages(where, "/Stack/Prometheus", "info")
        assert NAMES_NOTE in note

    def test_writers_cannot_read(self) -> None:
        where = stack()
        role = iam.Role(where, "Collector", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
        ManagedPrometheus(where, "Prometheus", cluster=cluster(where)).grant_write(role)
        _, policy = only(rendered(where), "AWS::IAM::Policy")
        (statement,) = policy["Properties"]["PolicyDocument"]["Statement"]
        assert statement["Action"] == "aps:RemoteWrite"

    @pytest.mark.parametrize("name", ["wait_alert_minutes", "preemption_alert_count"])
    @pytest.mark.parametrize("limit", [0, -1, 1.5, True, "10"])
    def test_limits_are_whole_numbers(self, name: str, limit: Any) -> None:
        where = stack()
        with pytest.raises(InvalidInputError, match=f"{name}.*must be a whole number of 1 or more"):
            ManagedPrometheus(where, "Prometheus", cluster=cluster(where), **{name: limit})

    def test_one_topic(self) -> None:
        where = stack()
        notices = NoticeTopic(where, "Notices")
        with pytest.raises(InvalidInputError, match="keep one of both"):
            ManagedPrometheus(
                where, "Prometheus", cluster=cluster(where), notices=notices, topic=notices.topic
            )

    @pytest.mark.parametrize("name", ["cluster", "topic", "encryption_key"])
    def test_other_kinds(self, name: str) -> None:
        where = stack()
        with pytest.raises(InvalidInputError, match=f"{name}.*must be .*got 'arn'"):
            ManagedPrometheus(where, "Prometheus", **{"cluster": cluster(where), name: "arn"})

    def test_a_key_and_a_topic_that_are_known_at_deployment(self) -> None:
        where = Stack(App(), "Stack")
        arn = CfnParameter(where, "TopicArn").value_as_string
        topic = sns.Topic.from_topic_arn(where, "Topic", arn)
        ManagedPrometheus(where, "Prometheus", cluster=cluster(where), topic=topic)
        definition = only(rendered(where), WORKSPACE)[1]["Properties"]["AlertManagerDefinition"]
        assert {"Ref": "TopicArn"} in definition["Fn::Join"][1]
        assert {"Ref": "AWS::Region"} in definition["Fn::Join"][1]


class TestAddOn:
    def test_configuration_names_the_workspace(self, everything: dict[str, Any]) -> None:
        workspace, _ = only(everything, WORKSPACE)
        add_on = _add_on(everything, "amazon-sagemaker-hyperpod-observability")
        value = add_on["Properties"]["ConfigurationValues"]
        assert {"Fn::GetAtt": [workspace, "Arn"]} in value["Fn::Join"][1]
        assert {"Fn::GetAtt": [workspace, "PrometheusEndpoint"]} in value["Fn::Join"][1]
        assert json.loads(text_of(value)) == {
            "ampWorkspace": {"prometheusEndpoint": "ARN", "arn": "ARN"},
            "metricsProvider": {"taskGovernanceMetrics": {"level": "ADVANCED"}},
            "logging": {"enabled": False},
        }

    def test_its_role_writes_to_the_workspace_and_does_nothing_else(self, everything: dict[str, Any]) -> None:
        workspace, _ = only(everything, WORKSPACE)
        role = _role_of(everything, "hyperpod-observability-operator-otel-collector")
        assert statements_of(everything, role) == [
            {
                "Action": "aps:RemoteWrite",
                "Effect": "Allow",
                "Resource": {"Fn::GetAtt": [workspace, "Arn"]},
            }
        ]
        assert "ManagedPolicyArns" not in everything["Resources"][role]["Properties"]

    @pytest.mark.parametrize(
        ("name", "account", "namespace"),
        [
            (
                "amazon-sagemaker-hyperpod-observability",
                "hyperpod-observability-operator-otel-collector",
                "hyperpod-observability",
            ),
            ("amazon-cloudwatch-observability", "cloudwatch-agent", "amazon-cloudwatch"),
        ],
    )
    def test_add_ons_come_after_nodes_association_and_rights(
        self, everything: dict[str, Any], name: str, account: str, namespace: str
    ) -> None:
        add_on = _add_on(everything, name)
        (made,) = resources(everything, "AWS::SageMaker::Cluster")
        (association,) = (
            logical_id
            for logical_id, one in resources(everything, ASSOCIATION).items()
            if one["Properties"]["ServiceAccount"] == account
        )
        role = _role_of(everything, account)
        assert {made, association, role} <= set(add_on["DependsOn"])
        assert everything["Resources"][association]["Properties"]["Namespace"] == namespace
        (trust,) = everything["Resources"][role]["Properties"]["AssumeRolePolicyDocument"]["Statement"]
        assert trust["Principal"] == {"Service": "pods.eks.amazonaws.com"}
        assert trust["Condition"]["StringEquals"]["aws:RequestTag/kubernetes-service-account"] == account
        assert trust["Condition"]["StringEquals"]["aws:RequestTag/eks-cluster-arn"] == EKS_ARN

    def test_rights_come_before_the_add_on(self, everything: dict[str, Any]) -> None:
        add_on = _add_on(everything, "amazon-sagemaker-hyperpod-observability")
        assert set(resources(everything, POLICY)) & set(add_on["DependsOn"])

    def test_levels_can_be_chosen(self) -> None:
        where = stack()
        control_plane, made = on_eks(where)
        HyperPodObservabilityAddOn(
            where,
            "AddOn",
            control_plane=control_plane,
            cluster=made,
            prometheus=ManagedPrometheus(where, "Prometheus", cluster=made),
            metric_levels={"nodeMetrics": "BASIC", "taskGovernanceMetrics": "DISABLED"},
        )
        said = json.loads(text_of(only(rendered(where), ADD_ON)[1]["Properties"]["ConfigurationValues"]))
        assert said["metricsProvider"] == {
            "nodeMetrics": {"level": "BASIC"},
            "taskGovernanceMetrics": {"level": "DISABLED"},
        }

    @pytest.mark.parametrize(
        ("levels", "message"),
        [
            ({"gpuMetrics": "BASIC"}, "metric_levels.gpuMetrics.*must be a category of figures"),
            ({"nodeMetrics": "FULL"}, "metric_levels.nodeMetrics.*must be one of DISABLED, BASIC, ADVANCED"),
        ],
    )
    def test_unknown_levels(self, levels: dict[str, str], message: str) -> None:
        where = stack()
        control_plane, made = on_eks(where)
        with pytest.raises(InvalidInputError, match=message):
            HyperPodObservabilityAddOn(
                where,
                "AddOn",
                control_plane=control_plane,
                cluster=made,
                prometheus=ManagedPrometheus(where, "Prometheus", cluster=made),
                metric_levels=levels,
            )

    def test_no_workspace(self) -> None:
        where = stack()
        control_plane, made = on_eks(where)
        name: Any = "ws-1"
        with pytest.raises(InvalidInputError, match=r"prometheus.*must be a ManagedPrometheus\(\.\.\.\)"):
            HyperPodObservabilityAddOn(
                where, "AddOn", control_plane=control_plane, cluster=made, prometheus=name
            )

    def test_slurm_has_no_add_ons(self) -> None:
        where = stack()
        control_plane = EksControlPlane.from_existing(
            where, "Eks", cluster_arn=EKS_ARN, dependency_chart=DependencyChart.installed()
        )
        with pytest.raises(InvalidInputError, match="must be one with EKS, got one with Slurm"):
            ContainerInsights(where, "Insights", control_plane=control_plane, cluster=cluster(where))


class TestContainerInsights:
    def test_has_the_agents_policy_and_the_version(self, everything: dict[str, Any]) -> None:
        add_on = _add_on(everything, "amazon-cloudwatch-observability")
        assert add_on["Properties"]["AddonVersion"] == "v4.0.0"
        role = everything["Resources"][_role_of(everything, "cloudwatch-agent")]
        (policy,) = role["Properties"]["ManagedPolicyArns"]
        assert text_of(policy).endswith(":iam::aws:policy/CloudWatchAgentServerPolicy")

    def test_tells_the_log_group_of_containers(self) -> None:
        where = stack()
        control_plane, made = on_eks(where)
        insights = ContainerInsights(where, "Insights", control_plane=control_plane, cluster=made)
        assert insights.log_group_name == "/aws/containerinsights/training/application"


class TestGrafana:
    def test_workspace(self, everything: dict[str, Any]) -> None:
        _, workspace = only(everything, GRAFANA)
        properties = workspace["Properties"]
        assert properties["AccountAccessType"] == "CURRENT_ACCOUNT"
        assert properties["PermissionType"] == "CUSTOMER_MANAGED"
        assert properties["AuthenticationProviders"] == ["AWS_SSO"]

    def test_its_role_reads_that_workspace_only(self, everything: dict[str, Any]) -> None:
        workspace, _ = only(everything, WORKSPACE)
        role = only(everything, GRAFANA)[1]["Properties"]["RoleArn"]["Fn::GetAtt"][0]
        assert statements_of(everything, role) == [
            {"Action": READS, "Effect": "Allow", "Resource": {"Fn::GetAtt": [workspace, "Arn"]}}
        ]
        (trust,) = everything["Resources"][role]["Properties"]["AssumeRolePolicyDocument"]["Statement"]
        assert trust["Principal"] == {"Service": "grafana.amazonaws.com"}
        assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}

    @pytest.mark.parametrize("providers", [[], ["LDAP"]])
    def test_other_ways_to_sign_in(self, providers: Any) -> None:
        where = stack()
        made = cluster(where)
        with pytest.raises(InvalidInputError, match=r"authentication_providers.*one of AWS_SSO, SAML"):
            ManagedGrafana(
                where,
                "Grafana",
                cluster=made,
                prometheus=ManagedPrometheus(where, "Prometheus", cluster=made),
                authentication_providers=providers,
            )

    def test_a_provider_that_is_known_at_deployment(self) -> None:
        where = stack()
        made = cluster(where)
        ManagedGrafana(
            where,
            "Grafana",
            cluster=made,
            prometheus=ManagedPrometheus(where, "Prometheus", cluster=made),
            authentication_providers=[CfnParameter(where, "Provider").value_as_string],
        )
        _, workspace = only(rendered(where), GRAFANA)
        assert workspace["Properties"]["AuthenticationProviders"] == [{"Ref": "Provider"}]

    @pytest.mark.parametrize(
        ("region", "warned"), [("eu-north-1", True), ("us-west-1", True), ("us-west-2", False), (None, False)]
    )
    def test_regions_without_grafana(self, region: str | None, warned: bool) -> None:
        where = Stack(App(), "Elsewhere", env=Environment(region=region))
        made = cluster(where)
        ManagedGrafana(
            where,
            "Grafana",
            cluster=made,
            prometheus=ManagedPrometheus(where, "Prometheus", cluster=made, governance_rules=False),
        )
        found = messages(where, "/Elsewhere/Grafana", "warning")
        words = f"{region} may not have the resource type AWS::Grafana::Workspace"
        assert [words in message for message in found] == [True] * warned
        assert not any("AWS::APS" in one for one in messages(where, "/Elsewhere/Prometheus", "warning"))


class TestRecoveryFigures:
    def test_a_filter_for_steps_and_for_each_stage(self, everything: dict[str, Any]) -> None:
        filters = [one["Properties"] for one in resources(everything, FILTER).values()]
        values = {one["MetricTransformations"][0]["MetricValue"] for one in filters}
        assert values == {"$.steps_lost", *(f"$.seconds.{stage.name}" for stage in RECOVERY_STAGES)}
        assert {one["LogGroupName"] for one in filters} == {"/records"}
        assert {one["FilterPattern"] for one in filters} == {
            '{ ($.version = 1) && ($.kind = "recovery") && ($.complete IS TRUE) }'
        }
        names = {one["MetricTransformations"][0]["MetricName"] for one in filters}
        assert len(names) == len(filters)

    @pytest.mark.parametrize("field", ["log_processed", "body.record_1"])
    def test_the_record_may_be_within_the_event(self, field: str) -> None:
        where = stack()
        group = logs.LogGroup.from_log_group_name(where, "Records", "/records")
        RecoveryFigures(where, "Recovery", log_group=group, cluster_name="llm-train", record_field=field)
        filters = [one["Properties"] for one in resources(rendered(where), FILTER).values()]
        values = {one["MetricTransformations"][0]["MetricValue"] for one in filters}
        stages = {f"$.{field}.seconds.{stage.name}" for stage in RECOVERY_STAGES}
        assert values == {f"$.{field}.steps_lost", *stages}
        assert {one["FilterPattern"] for one in filters} == {
            f'{{ ($.{field}.version = 1) && ($.{field}.kind = "recovery") && ($.{field}.complete IS TRUE) }}'
        }

    @pytest.mark.parametrize("field", ["", "$.log_processed", "log processed", "a..b", ".a", "a.", "1a", 3])
    def test_other_fields(self, field: Any) -> None:
        where = stack()
        group = logs.LogGroup.from_log_group_name(where, "Records", "/records")
        message = r"record_field.*must be names of letters, digits and _ .* such as 'log_processed', got"
        with pytest.raises(InvalidInputError, match=message):
            RecoveryFigures(where, "Recovery", log_group=group, cluster_name="llm-train", record_field=field)

    def test_a_field_that_is_known_at_deployment(self) -> None:
        where = Stack(App(), "Stack")
        field = CfnParameter(where, "Field").value_as_string
        group = logs.LogGroup.from_log_group_name(where, "Records", "/records")
        RecoveryFigures(where, "Recovery", log_group=group, cluster_name="llm-train", record_field=field)
        one, *_ = resources(rendered(where), FILTER).values()
        assert {"Ref": "Field"} in one["Properties"]["FilterPattern"]["Fn::Join"][1]

    def test_graphs_show_all_of_them(self) -> None:
        where = stack()
        group = logs.LogGroup.from_log_group_name(where, "Records", "/records")
        figures = RecoveryFigures(where, "Recovery", log_group=group, cluster_name="llm-train")
        shown = json.dumps(where.resolve([widget.to_json() for widget in figures.widgets()]))
        for metric in (figures.steps_lost, *figures.seconds.values()):
            assert f'"HyperPod/llm-train", "{metric.metric_name}"' in shown

    def test_another_kind(self) -> None:
        name: Any = "/records"
        with pytest.raises(InvalidInputError, match=r"log_group.*must be a log group"):
            RecoveryFigures(stack(), "Recovery", log_group=name, cluster_name="llm-train")


def _add_on(template: dict[str, Any], name: str) -> Any:
    (found,) = (one for one in resources(template, ADD_ON).values() if one["Properties"]["AddonName"] == name)
    return found


def _role_of(template: dict[str, Any], service_account: str) -> str:
    (association,) = (
        one["Properties"]
        for one in resources(template, ASSOCIATION).values()
        if one["Properties"]["ServiceAccount"] == service_account
    )
    role: str = association["RoleArn"]["Fn::GetAtt"][0]
    return role
