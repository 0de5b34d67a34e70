from __future__ import annotations

import pytest

ID = "FlowLogs"


def _log(template):
    return template["Resources"]["FlowLog"]["Properties"]


def _role(template):
    return template["Resources"]["FlowLogRole"]["Properties"]


def test_delivered_flow_logs_comply(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


def test_no_flow_log_is_a_warning(judge, template):
    del template["Resources"]["FlowLog"]
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.severity) == ("Vpc", "warning")
    assert "has no flow log" in finding.message


def test_accepted_traffic_only_fails(judge, template):
    _log(template)["TrafficType"] = "ACCEPT"
    (finding,) = judge(ID, template).failures
    assert "records ACCEPT only" in finding.message


def test_no_role_fails(judge, template):
    del _log(template)["DeliverLogsPermissionArn"]
    (finding,) = judge(ID, template).failures
    assert "names no role that writes the records" in finding.message


def test_a_role_for_another_service_fails(judge, template):
    statement = _role(template)["AssumeRolePolicyDocument"]["Statement"][0]
    statement["Principal"] = {"Service": "ec2.amazonaws.com"}
    (finding,) = judge(ID, template).failures
    assert "does not trust vpc-flow-logs.amazonaws.com" in finding.message


@pytest.mark.parametrize("missing", ["logs:CreateLogStream", "logs:PutLogEvents"])
def test_a_role_without_permission_fails(judge, template, missing):
    statement = _role(template)["Policies"][0]["PolicyDocument"]["Statement"][0]
    statement["Action"].remove(missing)
    (finding,) = judge(ID, template).failures
    assert f"may not {missing}, so no flow log arrives" in finding.message


def test_a_literal_group_that_nobody_makes_fails(judge, template):
    _log(template)["LogGroupName"] = "/vpc/flow"
    (finding,) = judge(ID, template).failures
    assert "names log group /vpc/flow, which nothing in the template makes" in finding.message


def test_a_literal_group_that_the_template_makes_complies(judge, template):
    _log(template)["LogGroupName"] = "/vpc/flow"
    template["Resources"]["FlowLogGroup"]["Properties"] = {
        "LogGroupName": {"Fn::Join": ["/", ["", "vpc", "flow"]]}
    }
    assert judge(ID, template).findings == ()


def test_a_role_that_may_make_the_group_complies(judge, template):
    _log(template)["LogGroupName"] = "/vpc/flow"
    _role(template)["Policies"][0]["PolicyDocument"]["Statement"][0]["Action"] = "logs:*"
    assert judge(ID, template).findings == ()


def test_an_imported_role_is_undetermined(judge, template):
    _log(template)["DeliverLogsPermissionArn"] = {"Fn::ImportValue": "role"}
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_a_managed_policy_is_undetermined(judge, template):
    del _role(template)["Policies"]
    _role(template)["ManagedPolicyArns"] = [{"Fn::ImportValue": "policy"}]
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_traffic_from_a_parameter_is_undetermined(judge, template):
    template["Parameters"] = {"Traffic": {"Type": "String"}}
    _log(template)["TrafficType"] = {"Ref": "Traffic"}
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_a_bucket_as_destination_complies(judge, template):
    log = _log(template)
    del log["LogGroupName"], log["DeliverLogsPermissionArn"]
    log |= {"LogDestinationType": "s3", "LogDestination": "arn:aws:s3:::flow-logs"}
    assert judge(ID, template).findings == ()


def test_an_imported_vpc_is_left_alone(judge, template):
    template["Resources"]["Subnet"]["Properties"]["VpcId"] = "vpc-0123456789abcdef0"
    assert judge(ID, template).verdicts == ()


def _key(template, *services):
    template["Resources"]["LogKey"] = {
        "Type": "AWS::KMS::Key",
        "Properties": {
            "KeyPolicy": {
                "Statement": [
                    {"Effect": "Allow", "Principal": {"Service": service}, "Action": "kms:*", "Resource": "*"}
                    for service in services
                ]
            }
        },
    }


RETAINED = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
IN_REGION = {"Fn::Sub": "logs.${AWS::Region}.${AWS::URLSuffix}"}


@pytest.mark.parametrize(
    ("services", "outcome"),
    [
        ([IN_REGION], "pass"),
        (["logs.us-west-2.amazonaws.com"], "pass"),
        (["s3.amazonaws.com"], "fail"),
        ([], "fail"),
        ([{"Fn::ImportValue": "service"}], "pass"),
    ],
    ids=str,
)
def test_the_key_of_the_log_group_admits_its_service(judge, template, services, outcome):
    _key(template, *services)
    template["Resources"]["FlowLogGroup"]["Properties"] = {"KmsKeyId": {"Fn::GetAtt": "LogKey.Arn"}}
    template["Resources"]["LogKey"] |= RETAINED
    assert judge(ID, template).outcome(ID) == outcome


@pytest.mark.parametrize(
    ("services", "outcome"), [(["delivery.logs.amazonaws.com"], "pass"), (["s3.amazonaws.com"], "fail")]
)
def test_the_key_of_the_bucket_admits_log_delivery(judge, template, services, outcome):
    _key(template, *services)
    template["Resources"]["Logs"]["Properties"] = {
        "BucketEncryption": {
            "ServerSideEncryptionConfiguration": [
                {
                    "ServerSideEncryptionByDefault": {
                        "SSEAlgorithm": "aws:kms",
                        "KMSMasterKeyID": {"Ref": "LogKey"},
                    }
                }
            ]
        }
    }
    log = _log(template)
    del log["LogGroupName"], log["DeliverLogsPermissionArn"]
    log.update(LogDestinationType="s3", LogDestination={"Fn::Sub": "${Logs.Arn}/flow"})
    assert judge(ID, template).outcome(ID) == outcome


def test_a_bucket_without_key_of_its_own_complies(judge, template):
    log = _log(template)
    del log["LogGroupName"], log["DeliverLogsPermissionArn"]
    log.update(LogDestinationType="s3", LogDestination={"Fn::GetAtt": "Logs.Arn"})
    assert judge(ID, template).outcome(ID) == "pass"


def test_a_permission_for_another_group_fails(judge, template):
    template["Resources"]["OtherGroup"] = {"Type": "AWS::Logs::LogGroup"}
    statement = _role(template)["Policies"][0]["PolicyDocument"]["Statement"][0]
    statement["Resource"] = {"Fn::Sub": "${OtherGroup.Arn}:*"}
    (finding,) = judge(ID, template).failures
    assert "may not logs:CreateLogStream or logs:PutLogEvents" in finding.message
    statement["Resource"] = [{"Fn::Sub": "${OtherGroup.Arn}:*"}, {"Fn::Sub": "${FlowLogGroup.Arn}:*"}]
    assert judge(ID, template).findings == ()


def test_a_destination_from_a_parameter_is_undetermined(judge, template):
    template["Parameters"] = {"Kind": {"Type": "String"}}
    _log(template)["LogDestinationType"] = {"Ref": "Kind"}
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_a_flow_log_to_nowhere_fails(judge, template):
    del _log(template)["LogGroupName"]
    (finding,) = judge(ID, template).failures
    assert "names neither log group nor destination" in finding.message


@pytest.mark.parametrize("traffic", ["ACCEPT", "REJECT"])
def test_half_of_the_traffic_is_not_enough(judge, template, traffic):
    _log(template)["TrafficType"] = traffic
    (finding,) = judge(ID, template).failures
    assert f"records {traffic} only" in finding.message


@pytest.mark.parametrize("attribute", ["DeletionPolicy", "UpdateReplacePolicy"])
@pytest.mark.parametrize("name", ["FlowLogGroup", "FlowLogKey"])
def test_records_that_go_with_the_stack_fail(judge, template, name, attribute):
    del template["Resources"][name][attribute]
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == name
    assert "is deleted with the stack" in finding.message


def test_a_retention_that_only_deployment_knows_counts_as_kept(judge, template):
    template["Resources"]["FlowLogGroup"]["DeletionPolicy"] = {"Fn::ImportValue": "policy"}
    assert judge(ID, template).outcome(ID) == "pass"


def test_a_key_of_others_is_undetermined(judge, template):
    group = template["Resources"]["FlowLogGroup"]["Properties"]
    group["KmsKeyId"] = "arn:aws:kms:us-west-2:444455556666:key/12345678-1234-1234-1234-123456789012"
    report = judge(ID, template)
    assert report.outcome(ID) == "undetermined"
    assert "admits CloudWatch Logs is not in this template" in report.text()
