import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from aws_double.running import Running, running


@pytest.fixture(scope="module")
def double(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(folder=tmp_path_factory.mktemp("double")) as started:
        yield started


@pytest.fixture(scope="module")
def cfn(double: Running) -> Any:
    return double.session().client("cloudformation")


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """Name of a stack of the test's own."""
    return "".join(letter if letter.isalnum() else "-" for letter in request.node.name).strip("-")


def parameter(value: Any, **attributes: Any) -> dict[str, Any]:
    return {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": value}, **attributes}


def template(*, outputs: Any = None, parameters: Any = None, **resources: Any) -> str:
    return json.dumps({"Resources": resources, "Outputs": outputs or {}, "Parameters": parameters or {}})


def create(cfn: Any, name: str, body: str, **request: Any) -> dict[str, Any]:
    """Create a stack and return how it ended."""
    cfn.create_stack(StackName=name, TemplateBody=body, **request)
    return ended(cfn, name)


def ended(cfn: Any, name: str) -> dict[str, Any]:
    while True:
        stack: dict[str, Any] = cfn.describe_stacks(StackName=name)["Stacks"][0]
        if not stack["StackStatus"].endswith("_IN_PROGRESS"):
            return stack
        time.sleep(0.02)


def reasons(cfn: Any, name: str) -> str:
    events = cfn.describe_stack_events(StackName=name)["StackEvents"]
    return " ".join(event.get("ResourceStatusReason", "") for event in events)


def test_from_a_change_set_to_a_stack_that_is_deleted(double: Running, cfn: Any, name: str) -> None:
    body = template(A=parameter("a"), outputs={"Name": {"Value": {"Ref": "A"}, "Description": "Its name"}})

    made = cfn.create_change_set(
        StackName=name,
        ChangeSetName="first",
        ChangeSetType="CREATE",
        TemplateBody=body,
        Tags=[{"Key": "team", "Value": "research"}],
    )
    cfn.get_waiter("change_set_create_complete").wait(StackName=name, ChangeSetName="first")
    described = cfn.describe_change_set(ChangeSetName=made["Id"])
    assert (described["Status"], described["ExecutionStatus"]) == ("CREATE_COMPLETE", "AVAILABLE")
    assert described["Changes"][0]["ResourceChange"]["Action"] == "Add"
    assert "NextToken" not in described
    assert cfn.describe_stacks(StackName=name)["Stacks"][0]["StackStatus"] == "REVIEW_IN_PROGRESS"
    assert cfn.get_template(StackName=name)["TemplateBody"] == ""
    assert [one["ChangeSetName"] for one in cfn.list_change_sets(StackName=name)["Summaries"]] == ["first"]

    cfn.execute_change_set(ChangeSetName="first", StackName=name)
    stack = ended(cfn, name)
    assert (stack["StackStatus"], stack["StackId"]) == ("CREATE_COMPLETE", made["StackId"])
    assert stack["Tags"] == [{"Key": "team", "Value": "research"}]
    assert stack["ChangeSetId"] == made["Id"]
    (output,) = stack["Outputs"]
    assert (output["OutputKey"], output["Description"]) == ("Name", "Its name")
    assert (
        double.session().client("ssm").get_parameter(Name=output["OutputValue"])["Parameter"]["Value"] == "a"
    )
    assert cfn.get_template(StackName=name)["TemplateBody"] == json.loads(body)
    (resource,) = cfn.describe_stack_resources(StackName=name)["StackResources"]
    assert resource["PhysicalResourceId"] == output["OutputValue"]
    (listed,) = cfn.list_stack_resources(StackName=name)["StackResourceSummaries"]
    detail = cfn.describe_stack_resource(StackName=name, LogicalResourceId="A")["StackResourceDetail"]
    assert listed["ResourceStatus"] == detail["ResourceStatus"] == "CREATE_COMPLETE"

    cfn.delete_stack(StackName=name)
    cfn.get_waiter("stack_delete_complete").wait(StackName=made["StackId"], WaiterConfig={"Delay": 1})
    assert cfn.describe_stacks(StackName=made["StackId"])["Stacks"][0]["StackStatus"] == "DELETE_COMPLETE"
    with pytest.raises(ClientError, match=f"Stack with id {name} does not exist"):
        cfn.describe_stacks(StackName=name)
    with pytest.raises(ClientError, match=rf"Stack \[{name}\] does not exist"):
        cfn.describe_stack_events(StackName=name)
    cfn.delete_stack(StackName=name)


def test_a_change_set_without_changes_fails_as_the_cdk_expects(cfn: Any, name: str) -> None:
    body = template(A=parameter("a"))
    create(cfn, name, body)

    cfn.create_change_set(StackName=name, ChangeSetName="same", TemplateBody=body)

    described = cfn.describe_change_set(StackName=name, ChangeSetName="same")
    assert (described["Status"], described["ExecutionStatus"]) == ("FAILED", "UNAVAILABLE")
    assert described["StatusReason"].startswith("The submitted information didn't contain changes.")
    with pytest.raises(ClientError, match="InvalidChangeSetStatus"):
        cfn.execute_change_set(StackName=name, ChangeSetName="same")
    cfn.delete_change_set(StackName=name, ChangeSetName="same")
    with pytest.raises(cfn.exceptions.ChangeSetNotFoundException):
        cfn.describe_change_set(StackName=name, ChangeSetName="same")
    cfn.delete_change_set(StackName=name, ChangeSetName="same")
    with pytest.raises(ClientError, match=r"No updates are to be performed\."):
        cfn.update_stack(StackName=name, TemplateBody=body)


def test_values_of_properties_are_told_when_asked_for(cfn: Any, name: str) -> None:
    create(cfn, name, template(A=parameter("a")))
    cfn.create_change_set(StackName=name, ChangeSetName="other", TemplateBody=template(A=parameter("b")))

    def target(**asked: Any) -> dict[str, Any]:
        found = cfn.describe_change_set(StackName=name, ChangeSetName="other", **asked)["Changes"]
        told: dict[str, Any] = found[0]["ResourceChange"]["Details"][0]["Target"]
        return told

    assert target() == {"Attribute": "Properties", "Name": "Value", "RequiresRecreation": "Never"}
    assert target(IncludePropertyValues=True)["BeforeValue"] == "a"
    assert target(IncludePropertyValues=True)["AfterValue"] == "b"


def test_termination_protection(cfn: Any, name: str) -> None:
    stack = create(cfn, name, template(A=parameter("a")), EnableTerminationProtection=True)
    assert stack["EnableTerminationProtection"] is True

    with pytest.raises(ClientError, match="cannot be deleted while TerminationProtection is enabled"):
        cfn.delete_stack(StackName=name)
    cfn.update_termination_protection(StackName=name, EnableTerminationProtection=False)

    assert cfn.describe_stacks(StackName=name)["Stacks"][0]["EnableTerminationProtection"] is False
    cfn.delete_stack(StackName=name)
    assert cfn.describe_stacks(StackName=stack["StackId"])["Stacks"][0]["StackStatus"].startswith("DELETE")


ROLE = {
    "Type": "AWS::IAM::Role",
    "Properties": {
        "AssumeRolePolicyDocument": {
            "Version": "2012-10-17",
            "Statement": {
                "Effect": "Allow",
                "Action": "sts:AssumeRole",
                "Principal": {"Service": "cloudformation.amazonaws.com"},
            },
        },
        "ManagedPolicyArns": ["arn:aws:iam::aws:policy/AdministratorAccess"],
    },
}


def test_iam_needs_a_capability_and_leaves_no_stack_without(cfn: Any, name: str) -> None:
    with pytest.raises(cfn.exceptions.InsufficientCapabilitiesException, match="CAPABILITY_IAM"):
        cfn.create_stack(StackName=name, TemplateBody=template(Role=ROLE))

    with pytest.raises(ClientError, match="does not exist"):
        cfn.describe_stacks(StackName=name)
    assert (
        create(cfn, name, template(Role=ROLE), Capabilities=["CAPABILITY_IAM"])["StackStatus"]
        == "CREATE_COMPLETE"
    )


def test_it_works_as_the_role_that_it_is_told_and_keeps_it(cfn: Any, name: str) -> None:
    outputs = {"Arn": {"Value": {"Fn::GetAtt": ["Role", "Arn"]}}}
    role = create(cfn, f"{name}-role", template(Role=ROLE, outputs=outputs), Capabilities=["CAPABILITY_IAM"])
    arn = role["Outputs"][0]["OutputValue"]

    stack = create(cfn, name, template(A=parameter("a")), RoleARN=arn)
    assert (stack["StackStatus"], stack["RoleARN"]) == ("CREATE_COMPLETE", arn)
    cfn.update_stack(StackName=name, TemplateBody=template(A=parameter("b")))
    updated = ended(cfn, name)
    assert updated["RoleARN"] == arn
    assert updated["LastUpdatedTime"] > updated["CreationTime"]


def test_a_template_comes_from_a_bucket(double: Running, cfn: Any, name: str) -> None:
    s3 = double.session().client("s3")
    s3.create_bucket(Bucket="templates", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    s3.put_object(Bucket="templates", Key="a/b.json", Body=template(A=parameter("a")))

    for position, url in enumerate(
        [
            "https://s3.us-west-2.amazonaws.com/templates/a/b.json",
            "https://templates.s3.us-west-2.amazonaws.com/a/b.json",
            f"{double.endpoint}/templates/a/b.json",
        ]
    ):
        cfn.create_stack(StackName=f"{name}-{position}", TemplateURL=url)
        assert ended(cfn, f"{name}-{position}")["StackStatus"] == "CREATE_COMPLETE"
    with pytest.raises(ClientError, match=r"S3 error: .*NoSuchKey"):
        cfn.create_stack(StackName=name, TemplateURL="https://s3.us-west-2.amazonaws.com/templates/none")
    with pytest.raises(ClientError, match="Either Template URL or Template Body must be specified"):
        cfn.create_stack(StackName=name)


def test_the_parameter_store_gives_parameters_and_dynamic_references(
    double: Running, cfn: Any, name: str
) -> None:
    ssm = double.session().client("ssm")
    ssm.put_parameter(Name="/shared/value", Value="one", Type="String")
    ssm.put_parameter(Name="/shared/value", Value="two", Type="String", Overwrite=True)
    declared = {"Stored": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/shared/value"}}
    outputs = {
        "Stored": {"Value": {"Ref": "Stored"}},
        "First": {"Value": "{{resolve:ssm:/shared/value:1}}"},
        "Zone": {"Value": {"Fn::Select": [1, {"Fn::GetAZs": ""}]}},
    }

    stack = create(cfn, name, template(A=parameter("a"), parameters=declared, outputs=outputs))

    told = {one["OutputKey"]: one["OutputValue"] for one in stack["Outputs"]}
    assert told == {"Stored": "two", "First": "one", "Zone": "us-west-2b"}
    (shown,) = stack["Parameters"]
    assert shown == {"ParameterKey": "Stored", "ParameterValue": "/shared/value", "ResolvedValue": "two"}
    with pytest.raises(ClientError, match=r"Unable to fetch parameters \[/none\]"):
        cfn.create_stack(
            StackName=f"{name}-none",
            TemplateBody=template(A=parameter("a"), parameters=declared),
            Parameters=[{"ParameterKey": "Stored", "ParameterValue": "/none"}],
        )


def test_secrets_are_not_shown(cfn: Any, name: str) -> None:
    declared = {"Secret": {"Type": "String", "NoEcho": True}}
    given = [{"ParameterKey": "Secret", "ParameterValue": "hush"}]

    stack = create(cfn, name, template(A=parameter({"Ref": "Secret"}), parameters=declared), Parameters=given)

    assert stack["Parameters"] == [{"ParameterKey": "Secret", "ParameterValue": "****"}]


def test_exports_and_imports_are_listed(cfn: Any, name: str) -> None:
    outputs = {"Out": {"Value": "v", "Export": {"Name": f"{name}-out"}}}
    first = create(cfn, name, template(A=parameter("a"), outputs=outputs))
    with pytest.raises(ClientError, match="is not imported by any stack"):
        cfn.list_imports(ExportName=f"{name}-out")
    create(cfn, f"{name}-2", template(A=parameter({"Fn::ImportValue": f"{name}-out"})))

    (exported,) = [one for one in cfn.list_exports()["Exports"] if one["Name"] == f"{name}-out"]
    assert (exported["ExportingStackId"], exported["Value"]) == (first["StackId"], "v")
    assert cfn.list_imports(ExportName=f"{name}-out")["Imports"] == [f"{name}-2"]


def test_a_refusal_of_the_service_is_the_reason(cfn: Any, name: str) -> None:
    bad = {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "Nothing", "Value": "a"}}

    stack = create(cfn, name, template(A=bad))

    assert stack["StackStatus"] == "ROLLBACK_COMPLETE"
    assert "'Nothing' is none of String, StringList, SecureString" in reasons(cfn, name)


@pytest.mark.parametrize("option", [{"DisableRollback": True}, {"OnFailure": "DO_NOTHING"}])
def test_without_rollback_until_told(cfn: Any, name: str, option: dict[str, Any]) -> None:
    bad = {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "Nothing", "Value": "a"}}
    stack = create(cfn, name, template(A=bad), **option)
    assert (stack["StackStatus"], stack["DisableRollback"]) == ("CREATE_FAILED", True)

    cfn.rollback_stack(StackName=name)

    assert ended(cfn, name)["StackStatus"] == "ROLLBACK_COMPLETE"


NOT_COVERED = [
    ("create_stack", {"OnFailure": "DELETE", "TemplateBody": template(A=parameter("a"))}, "OnFailure DELETE"),
    (
        "create_change_set",
        {"ChangeSetName": "a", "ChangeSetType": "IMPORT", "TemplateBody": template(A=parameter("a"))},
        "import of existing resources",
    ),
]


@pytest.mark.parametrize(("operation", "request_", "what"), NOT_COVERED, ids=["delete", "import"])
def test_what_is_not_covered_says_so(
    cfn: Any, name: str, operation: str, request_: dict[str, Any], what: str
) -> None:
    with pytest.raises(ClientError, match=f"{what} is not covered by this double of CloudFormation"):
        getattr(cfn, operation)(StackName=name, **request_)


def test_a_wrong_request_for_a_new_stack_leaves_none_behind(cfn: Any, name: str) -> None:
    with pytest.raises(ClientError, match="Unresolved resource dependencies"):
        cfn.create_stack(StackName=name, TemplateBody=template(A=parameter({"Ref": "Nothing"})))

    assert name not in {one["StackName"] for one in cfn.list_stacks()["StackSummaries"]}


def test_a_template_is_told_about_before_it_is_used(cfn: Any, name: str) -> None:
    declared = {"Size": {"Type": "Number", "Default": 3, "Description": "How many"}}
    body = template(Role=ROLE, parameters=declared)

    summary = cfn.get_template_summary(TemplateBody=body)

    assert summary["Capabilities"] == ["CAPABILITY_IAM"]
    assert summary["ResourceTypes"] == ["AWS::IAM::Role"]
    (told,) = cfn.validate_template(TemplateBody=body)["Parameters"]
    assert (told["ParameterKey"], told["DefaultValue"], told["Description"]) == ("Size", "3", "How many")
    with pytest.raises(ClientError, match="Unrecognized resource types"):
        cfn.validate_template(TemplateBody=template(A={"Type": "AWS::Unheard::Of"}))


def test_stacks_are_worked_on_side_by_side(double: Running, cfn: Any, name: str) -> None:
    names = [f"{name}-{number}" for number in range(4)]
    for one in names:
        resources = {f"A{number}": parameter(f"{one} {number}") for number in range(5)}
        cfn.create_stack(StackName=one, TemplateBody=template(**resources))

    assert {ended(cfn, one)["StackStatus"] for one in names} == {"CREATE_COMPLETE"}
    ssm = double.session().client("ssm")
    for one in names:
        found = cfn.describe_stack_resources(StackName=one)["StackResources"]
        values = [ssm.get_parameter(Name=each["PhysicalResourceId"])["Parameter"]["Value"] for each in found]
        assert sorted(values) == [f"{one} {number}" for number in range(5)]
