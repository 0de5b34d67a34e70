"""Sources of rules lead to the pages they name."""

from __future__ import annotations

import re

import pytest

from hyperpod_policy.command.selection import groups
from hyperpod_policy.reports.html.links import linked

AWS = "https://docs.aws.amazon.com"
LUSTRE = f"{AWS}/fsx/latest/LustreGuide"
PROMISES = {promise.id: promise for promises in groups().values() for promise in promises}


@pytest.mark.parametrize(
    ("source", "links"),
    [
        pytest.param(
            "EKS user guide, private-clusters",
            {"private-clusters": f"{AWS}/eks/latest/userguide/private-clusters.html"},
            id="a page",
        ),
        pytest.param(
            "FSx for Lustre user guide, limit-access-security-groups and efa-file-systems (both)",
            {
                "limit-access-security-groups": f"{LUSTRE}/limit-access-security-groups.html",
                "efa-file-systems": f"{LUSTRE}/efa-file-systems.html",
            },
            id="two pages",
        ),
        pytest.param(
            "SageMaker API reference, CreateCluster NodeRecovery; developer guide, HyperPod resiliency",
            {
                "CreateCluster": f"{AWS}/sagemaker/latest/APIReference/API_CreateCluster.html",
                "developer guide": f"{AWS}/sagemaker/latest/dg/",
            },
            id="an operation and a guide",
        ),
        pytest.param(
            "IAM user guide, cross-account access and the confused deputy",
            {"IAM user guide": f"{AWS}/IAM/latest/UserGuide/"},
            id="words with hyphens are no page",
        ),
        pytest.param(
            "CloudFormation registry, AWS::FSx::FileSystem (createOnlyProperties)",
            {
                "AWS::FSx::FileSystem": f"{AWS}/AWSCloudFormation/latest/TemplateReference/"
                "aws-resource-fsx-filesystem.html"
            },
            id="a resource type",
        ),
        pytest.param("docs/review.md of this project, acknowledgements", {}, id="no guide"),
        pytest.param("", {}, id="nothing"),
    ],
)
def test_what_is_linked(source, links):
    assert {piece.text: piece.address for piece in linked(source) if piece.address} == links


@pytest.mark.parametrize("rule_id", PROMISES)
def test_a_rule_reads_as_before_and_leads_to_whole_addresses(rule_id):
    source = PROMISES[rule_id].source
    pieces = linked(source)
    assert "".join(piece.text for piece in pieces) == source
    for piece in pieces:
        assert piece.address == "" or re.fullmatch(
            r"https://docs\.aws\.amazon\.com/[A-Za-z0-9-]+(/[A-Za-z-]+)+/([A-Za-z0-9_-]+\.html)?",
            piece.address,
        ), piece
