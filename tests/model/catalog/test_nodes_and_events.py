from __future__ import annotations

import pytest

from hyperpod_model.catalog import behaviours, events, labels, limits, logs, nodes, versions


def test_node_labels_have_their_documented_values():
    assert labels.NODE_HEALTH_STATUS == (
        "sagemaker.amazonaws.com/node-health-status",
        ("Schedulable", "Unschedulable", "UnschedulablePendingReplacement", "UnschedulablePendingReboot"),
    )
    assert labels.DEEP_HEALTH_CHECK_STATUS.values == ("InProgress", "Passed", "Failed")
    assert labels.FAULT_TYPES.values is None
    assert len({label.key for label in labels.ALL}) == len(labels.ALL)


def test_the_taint_is_a_value_of_the_health_label():
    taint = labels.UNSCHEDULABLE_TAINT
    assert taint == ("sagemaker.amazonaws.com/node-health-status", "Unschedulable", "NoSchedule")
    assert taint.value in (labels.NODE_HEALTH_STATUS.values or ())


def test_log_names():
    assert (
        logs.log_group_name("llm-train", "abcdefgh1234") == "/aws/sagemaker/Clusters/llm-train/abcdefgh1234"
    )
    assert logs.lifecycle_stream_name("workers", "i-1") == "LifecycleConfig/workers/i-1"
    assert (
        logs.health_monitoring_stream_name("workers", "i-1") == "SagemakerHealthMonitoringAgent/workers/i-1"
    )
    assert logs.deep_health_check_stream_name("x") == "DeepHealthCheckResults/x"


def test_the_details_of_a_detection_hide_behind_a_key_with_a_colon():
    assert logs.HEALTH_EVENT_DETAILS_KEY == "details: "
    assert logs.HEALTH_EVENT_FILTER == '{ $.HealthMonitoringAgentDetectionEvent = "HealthEvent" }'


def test_event_types():
    assert events.SOURCE == "aws.sagemaker"
    assert [found.detail_type for found in events.EVENT_TYPES] == [
        "SageMaker HyperPod Cluster State Change",
        "SageMaker HyperPod Cluster Node Health Event",
        "SageMaker HyperPod Cluster Event",
    ]
    assert [found.needs_continuous_provisioning for found in events.EVENT_TYPES] == [False, False, True]
    assert all(field.startswith("EventDetails.") for field in events.CLUSTER_EVENT.detail_fields)


def test_statuses_are_those_of_the_api():
    session = pytest.importorskip("botocore.session").get_session()
    model = session.get_service_model("sagemaker")
    assert set(events.CLUSTER_STATUSES) == set(model.shape_for("ClusterStatus").enum)
    assert set(events.INSTANCE_STATUSES) == set(model.shape_for("ClusterInstanceStatus").enum)


def test_words_that_hyperpod_matches_exactly():
    assert (nodes.REBOOT_REASON, nodes.REPLACE_REASON) == ("Action:Reboot", "Action:Replace")
    assert nodes.RESOURCE_CONFIG_PATH == "/opt/ml/config/resource_config.json"


def test_the_cni_and_data_formats():
    assert versions.MIN_VPC_CNI == "1.18.3"
    assert versions.DATA_FORMATS == ("JSON", "JSONGZ", "ARROW")


def test_the_release_that_sets_the_device_from_local_rank():
    release = versions.CHECKPOINTLESS_RELEASES[-1]
    assert (release.version, release.released) == ("1.0.1", "2026-04-10")
    assert "LOCAL_RANK" in release.note


def test_limits_around_the_service():
    assert limits.TIERED_MEMORY_PERCENTAGE.value == (20, 100)
    assert limits.SUBNET_PREFIX_LENGTHS == (16, 28)
    assert limits.RESERVED_SUBNET_ADDRESSES == 5
    assert limits.instance_type_quota_name("ml.p5.48xlarge") == "ml.p5.48xlarge for cluster usage"


def test_only_accelerated_instances_are_replaced():
    assert behaviours.AUTO_REPLACED_INSTANCES.value == "accelerated"
