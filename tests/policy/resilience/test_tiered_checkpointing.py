from __future__ import annotations

import pytest

ID = "TieredCheckpointing"


def _tiered(template):
    return template["Resources"]["Cluster"]["Properties"]["TieredStorageConfig"]


def test_a_share_and_a_bucket_comply(judge, eks_template):
    assert judge(ID, eks_template).outcome(ID) == "pass"


def test_no_share_fails(judge, eks_template):
    del _tiered(eks_template)["InstanceMemoryAllocationPercentage"]
    (finding,) = judge(ID, eks_template).failures
    assert finding.path == ("TieredStorageConfig", "InstanceMemoryAllocationPercentage")
    assert "is not set" in finding.message
    assert "20 to 100" in finding.message


def test_a_share_that_is_too_small_is_found_among_the_clusters_properties(judge, eks_template):
    _tiered(eks_template)["InstanceMemoryAllocationPercentage"] = 10
    (finding,) = judge("ClusterRequest", eks_template).failures
    assert "must be 20 to 100, got 10" in finding.message


def test_no_bucket_is_undetermined(judge, eks_template):
    del eks_template["Resources"]["PodRole"]["Properties"]["Policies"]
    (finding,) = judge(ID, eks_template).findings
    assert finding.outcome == "undetermined"
    assert "no bucket in this template is written by a role of training pods" in finding.message


def test_a_tagged_bucket_complies(judge, eks_template):
    del eks_template["Resources"]["PodRole"]["Properties"]["Policies"]
    tag = {"Key": "hyperpod:checkpoint-bucket", "Value": "true"}
    eks_template["Resources"]["Checkpoints"]["Properties"]["Tags"] = [tag]
    assert judge(ID, eks_template).findings == ()


@pytest.mark.parametrize("tiered", [None, {"Mode": "Disable"}])
def test_a_cluster_without_a_memory_tier_has_nothing_to_say(judge, eks_template, tiered):
    cluster = eks_template["Resources"]["Cluster"]["Properties"]
    del cluster["TieredStorageConfig"]
    if tiered is not None:
        cluster["TieredStorageConfig"] = tiered
    assert judge(ID, eks_template).verdicts == ()


def test_a_mode_from_a_parameter_is_undetermined(judge, eks_template):
    eks_template["Parameters"] = {"Mode": {"Type": "String"}}
    _tiered(eks_template)["Mode"] = {"Ref": "Mode"}
    assert judge(ID, eks_template).outcome(ID) == "undetermined"
