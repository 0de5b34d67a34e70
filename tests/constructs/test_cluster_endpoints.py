"""Every call of boot finds its endpoint, whose policy allows it and nothing of other accounts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Environment, Stack, Stage
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Template
from policy_evaluator import ACCOUNT, REGION, Request, evaluate, resolve

from hyperpod_constructs.cluster_endpoints import ClusterEndpoints
from hyperpod_constructs.cluster_network import ClusterNetwork
from hyperpod_constructs.efa_security_group import EfaSecurityGroup
from hyperpod_model.catalog.endpoints import BOOT_CALLS, ENDPOINTS, BootCall, required_endpoints
from hyperpod_model.faults import InvalidInputError

FOREIGN = "999988887777"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/nodes"


def _network(stack: Stack, **options: Any) -> ClusterNetwork:
    return ClusterNetwork(stack, "Network", availability_zone_id="usw2-az2", isolated=True, **options)


def _json(stack: Stack) -> dict[str, Any]:
    return dict(Template.from_stack(stack).to_json())


@pytest.fixture(scope="module")
def templates() -> dict[str, dict[str, Any]]:
    found = {}
    for orchestrator in ("slurm", "eks"):
        stack = Stack(App(), "Stack")
        _network(stack, orchestrator=orchestrator)
        found[orchestrator] = _json(stack)
    return found


def _endpoints(template: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Properties of the endpoints by service."""
    found = {}
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::EC2::VPCEndpoint":
            properties = {
                name: resolve(resource["Properties"][name], template)
                for name in ("ServiceName", "PolicyDocument", "VpcEndpointType")
                if name in resource["Properties"]
            }
            found[properties["ServiceName"].removeprefix(f"com.amazonaws.{REGION}.")] = properties
    return found


def _verdict(properties: dict[str, Any], request: Request) -> str:
    # Without a policy of its own an endpoint lets everything through.
    return evaluate(properties["PolicyDocument"], request) if "PolicyDocument" in properties else "allow"


def _request(call: BootCall, *, account: str = ACCOUNT) -> Request:
    keys = {"aws:PrincipalAccount": account, "aws:ResourceAccount": account}
    resources = {
        "any": "*",
        "own_bucket": "arn:aws:s3:::sagemaker-scripts",
        "own_object": "arn:aws:s3:::sagemaker-scripts/on_create.sh",
        "own_role": f"arn:aws:iam::{account}:role/pods",
        "own_function": f"arn:aws:lambda:{REGION}:{account}:function:Kubectl",
        "foreign_repository": f"arn:aws:ecr:{REGION}:602401143452:repository/eks/pause",
    }
    resource = resources.get(call.resource)
    if resource is None:
        keys["aws:ResourceAccount"] = FOREIGN
        name = call.resource.format(region=REGION, region_without_dashes=REGION.replace("-", ""))
        resource = f"arn:aws:s3:::{name}/some/object"
    if call.caller == "nobody":
        del keys["aws:PrincipalAccount"]
    elif call.caller == "presigned":
        keys["aws:PrincipalAccount"] = FOREIGN
    return Request(call.action, resource, keys)


@pytest.mark.parametrize(
    ("orchestrator", "call"),
    [(orchestrator, call) for call in BOOT_CALLS for orchestrator in call.orchestrators],
    ids=lambda value: value if isinstance(value, str) else f"{value.action}-{value.resource}",
)
def test_each_call_of_boot_finds_an_endpoint_that_allows_it(
    templates: dict[str, dict[str, Any]], orchestrator: str, call: BootCall
) -> None:
    endpoints = _endpoints(templates[orchestrator])
    for service in call.endpoints:
        assert _verdict(endpoints[service], _request(call)) == "allow", service


@pytest.mark.parametrize("orchestrator", ["slurm", "eks"])
def test_there_is_exactly_what_the_catalog_requires(
    templates: dict[str, dict[str, Any]], orchestrator: Any
) -> None:
    endpoints = _endpoints(templates[orchestrator])
    assert set(endpoints) == {found.service for found in required_endpoints(orchestrator)}
    for service, properties in endpoints.items():
        assert properties["VpcEndpointType"] == ENDPOINTS[service].kind
        assert ("PolicyDocument" in properties) == (ENDPOINTS[service].policy != "none")


FOREIGN_CALLERS = [
    call
    for call in BOOT_CALLS
    if call.caller in ("execution_role", "installer")
    and call.endpoints != ("s3",)
    and all(ENDPOINTS[service].policy != "none" for service in call.endpoints)
]


@pytest.mark.parametrize("call", FOREIGN_CALLERS, ids=lambda call: call.action)
def test_callers_of_other_accounts_pass_no_interface_endpoint_with_a_policy(
    templates: dict[str, dict[str, Any]], call: BootCall
) -> None:
    endpoints = _endpoints(templates["eks"])
    for service in call.endpoints:
        assert _verdict(endpoints[service], _request(call, account=FOREIGN)) == "silent"


PUSHES = [
    "ecr:PutImage",
    "ecr:InitiateLayerUpload",
    "ecr:UploadLayerPart",
    "ecr:CompleteLayerUpload",
    "ecr:SetRepositoryPolicy",
]


@pytest.mark.parametrize("service", ["ecr.api", "ecr.dkr"])
@pytest.mark.parametrize("action", PUSHES)
@pytest.mark.parametrize(("owner", "verdict"), [(ACCOUNT, "allow"), (FOREIGN, "silent")])
def test_images_are_pushed_to_registries_of_this_account_only(
    templates: dict[str, dict[str, Any]], service: str, action: str, owner: str, verdict: str
) -> None:
    resource = f"arn:aws:ecr:{REGION}:{owner}:repository/anything"
    request = Request(action, resource, {"aws:PrincipalAccount": ACCOUNT})
    assert _verdict(_endpoints(templates["eks"])[service], request) == verdict


@pytest.mark.parametrize("kind", ["function", "layer"])
@pytest.mark.parametrize(("owner", "verdict"), [(ACCOUNT, "allow"), (FOREIGN, "silent")])
def test_functions_of_other_accounts_are_not_invoked(
    templates: dict[str, dict[str, Any]], kind: str, owner: str, verdict: str
) -> None:
    resource = f"arn:aws:lambda:{REGION}:{owner}:{kind}:anything"
    request = Request("lambda:InvokeFunction", resource, {"aws:PrincipalAccount": ACCOUNT})
    assert _verdict(_endpoints(templates["eks"])["lambda"], request) == verdict


@pytest.mark.parametrize("action", ["aps:RemoteWrite", "aps:QueryMetrics"])
@pytest.mark.parametrize(
    ("caller", "owner", "verdict"),
    [(ACCOUNT, ACCOUNT, "allow"), (ACCOUNT, FOREIGN, "silent"), (FOREIGN, ACCOUNT, "silent")],
)
def test_figures_go_to_workspaces_of_this_account_only(
    action: str, caller: str, owner: str, verdict: str
) -> None:
    stack = Stack(App(), "Stack")
    _network(stack, orchestrator="eks", optional_endpoints=["aps-workspaces"])
    resource = f"arn:aws:aps:{REGION}:{owner}:workspace/ws-1"
    request = Request(action, resource, {"aws:PrincipalAccount": caller})
    assert _verdict(_endpoints(_json(stack))["aps-workspaces"], request) == verdict


@pytest.mark.parametrize("action", ["s3:GetObject", "s3:PutObject", "s3:ListBucket"])
@pytest.mark.parametrize("account", [ACCOUNT, FOREIGN])
def test_no_other_bucket_is_reached_whoever_asks(
    templates: dict[str, dict[str, Any]], action: str, account: str
) -> None:
    for template in templates.values():
        request = Request(
            action,
            "arn:aws:s3:::somebody-elses/object",
            {"aws:PrincipalAccount": account, "aws:ResourceAccount": FOREIGN},
        )
        assert _verdict(_endpoints(template)["s3"], request) == "silent"


def test_buckets_of_aws_are_read_only_but_for_the_answers_to_cloudformation(
    templates: dict[str, dict[str, Any]],
) -> None:
    policy = _endpoints(templates["eks"])["s3"]["PolicyDocument"]
    owned = [statement for statement in policy["Statement"] if statement["Sid"] != "OwnBuckets"]
    written = [statement["Resource"] for statement in owned if statement["Action"] != "s3:GetObject"]
    assert written == ["arn:aws:s3:::cloudformation-custom-resource-response-uswest2/*"]
    assert all("*" not in statement["Resource"].removesuffix("/*") for statement in owned)


def test_slurm_nodes_do_not_reach_what_only_eks_needs(templates: dict[str, dict[str, Any]]) -> None:
    s3_policy = f"{_endpoints(templates['slurm'])['s3']['PolicyDocument']}"
    assert "starport" not in s3_policy
    assert "cloudformation" not in s3_policy
    sts = _endpoints(templates["slurm"])["sts"]
    request = Request("sts:AssumeRoleWithWebIdentity", f"arn:aws:iam::{ACCOUNT}:role/pods")
    assert _verdict(sts, request) == "silent"


def test_web_identities_take_roles_of_this_account_only(templates: dict[str, dict[str, Any]]) -> None:
    sts = _endpoints(templates["eks"])["sts"]
    request = Request("sts:AssumeRoleWithWebIdentity", f"arn:aws:iam::{FOREIGN}:role/pods")
    assert _verdict(sts, request) == "silent"


@pytest.mark.parametrize("orchestrator", ["slurm", "eks"])
def test_interface_endpoints_answer_to_the_usual_names_in_a_subnet_of_their_own(
    templates: dict[str, dict[str, Any]], orchestrator: str
) -> None:
    template = templates[orchestrator]
    (subnet,) = (
        name
        for name, resource in template["Resources"].items()
        if resource["Type"] == "AWS::EC2::Subnet" and resource["Properties"]["CidrBlock"] == "10.0.0.0/24"
    )
    interfaces = [
        resource["Properties"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::EC2::VPCEndpoint"
        and resource["Properties"]["VpcEndpointType"] == "Interface"
    ]
    for properties in interfaces:
        assert properties["PrivateDnsEnabled"] is True
        assert properties["SubnetIds"] == [{"Ref": subnet}]
        assert len(properties["SecurityGroupIds"]) == 1


def _ingress(template: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        resource["Properties"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::EC2::SecurityGroupIngress"
    ]


def test_they_admit_https_from_the_nodes_subnet_only(templates: dict[str, dict[str, Any]]) -> None:
    (rule,) = _ingress(templates["eks"])
    assert (rule["CidrIp"], rule["IpProtocol"], rule["FromPort"], rule["ToPort"]) == (
        "10.0.128.0/17",
        "tcp",
        443,
        443,
    )


def test_they_admit_the_control_plane_subnets_as_well() -> None:
    stack = Stack(App(), "Stack")
    _network(stack, control_plane_availability_zone_ids=["usw2-az1", "usw2-az2"])
    rules = _ingress(_json(stack))
    assert [rule["CidrIp"] for rule in rules] == ["10.0.128.0/17", "10.0.1.0/24", "10.0.2.0/24"]


def test_optional_services_are_added_with_what_they_need() -> None:
    stack = Stack(App(), "Stack")
    network = _network(stack, optional_endpoints=["fsx", "ecr.dkr", "ecr.api"])
    endpoints = _endpoints(_json(stack))
    assert {"fsx", "ecr.dkr", "ecr.api"} <= set(endpoints)
    assert "prod-us-west-2-starport-layer-bucket" in f"{endpoints['s3']['PolicyDocument']}"
    assert network.endpoints is not None
    assert set(network.endpoints.interface_endpoints) == set(endpoints) - {"s3"}


def test_a_bucket_of_another_account_can_be_named_later() -> None:
    stack = Stack(App(), "Stack")
    network = _network(stack)
    assert network.endpoints is not None
    network.endpoints.allow_bucket(s3.Bucket.from_bucket_name(stack, "Data", "shared-corpus"))
    endpoint = _endpoints(_json(stack))["s3"]
    keys = {"aws:PrincipalAccount": ACCOUNT, "aws:ResourceAccount": FOREIGN}
    assert _verdict(endpoint, Request("s3:GetObject", "arn:aws:s3:::shared-corpus/a", keys)) == "allow"
    assert _verdict(endpoint, Request("s3:GetObject", "arn:aws:s3:::shared-corpus2/a", keys)) == "silent"


def test_what_is_no_bucket_is_refused() -> None:
    network = _network(Stack(App(), "Stack"))
    assert network.endpoints is not None
    with pytest.raises(InvalidInputError, match="endpoints 'Stack/Network/Endpoints': bucket: must be a buc"):
        network.endpoints.allow_bucket("shared-corpus")  # type: ignore[arg-type]


def _standalone(stack: Stack, **options: Any) -> ClusterEndpoints:
    vpc = ec2.Vpc.from_vpc_attributes(
        stack, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-west-2a"]
    )
    said: dict[str, Any] = {
        "vpc": vpc,
        "subnets": [ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-0123456789abcdef0")],
        "route_table_ids": ["rtb-0123456789abcdef0"],
        "client_cidrs": ["10.1.0.0/16"],
    }
    return ClusterEndpoints(stack, "Endpoints", **{**said, **options})


def test_they_stand_alone_in_an_existing_network() -> None:
    stack = Stack(App(), "Stack")
    cidr = CfnParameter(stack, "Range").value_as_string
    endpoints = _standalone(stack, client_cidrs=[cidr])
    peer = ec2.SecurityGroup.from_security_group_id(stack, "Peer", "sg-0123456789abcdef0")
    endpoints.connections.allow_default_port_from(peer)
    template = Template.from_stack(stack)
    template.has_resource_properties("AWS::EC2::SecurityGroupIngress", {"CidrIp": {"Ref": "Range"}})
    template.has_resource_properties(
        "AWS::EC2::SecurityGroupIngress",
        {"SourceSecurityGroupId": "sg-0123456789abcdef0", "FromPort": 443, "ToPort": 443},
    )
    template.has_resource_properties("AWS::EC2::VPCEndpoint", {"RouteTableIds": ["rtb-0123456789abcdef0"]})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subnets": []}, r"subnets: must be a list with one item at least, got \[\]"),
        ({"client_cidrs": "10.0.0.0/8"}, r"client_cidrs: must be a list with one item at least"),
        ({"route_table_ids": []}, r"route_table_ids: must be a list with one item at least"),
        ({"orchestrator": "mesos"}, r"orchestrator: must be slurm or eks, got 'mesos'"),
        ({"optional_services": "fsx"}, r"optional_services: must be a list of services, got 'fsx'"),
        (
            {"optional_services": ["fxs"]},
            r"optional_services\[0\]: unknown VPC endpoint service 'fxs'; .*optional are aps-workspaces, ",
        ),
        ({"vpc": "vpc-1"}, r"endpoints 'Stack/Endpoints': vpc: must be a VPC"),
    ],
)
def test_wrong_arguments_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        _standalone(Stack(App(), "Stack"), **options)


def _egress(stack: Stack) -> list[dict[str, Any]]:
    return [
        resource["Properties"]
        for resource in _json(stack)["Resources"].values()
        if resource["Type"] == "AWS::EC2::SecurityGroupEgress"
        and resource["Properties"]["IpProtocol"] != "-1"
    ]


def _nodes(stack: Stack, **options: Any) -> tuple[EfaSecurityGroup, ClusterEndpoints]:
    network = _network(stack)
    assert network.endpoints is not None
    return EfaSecurityGroup(stack, "Nodes", vpc=network.vpc, **options), network.endpoints


def test_nodes_get_out_to_the_endpoints_and_s3_and_nowhere_else() -> None:
    stack = Stack(App(), "Stack")
    group, endpoints = _nodes(stack, https_egress=False)
    group.allow_endpoints(endpoints)
    to_endpoints, to_s3 = _egress(stack)
    assert to_endpoints["DestinationSecurityGroupId"] == stack.resolve(
        endpoints.security_group.security_group_id
    )
    assert to_s3["CidrIp"] == "0.0.0.0/0"
    for rule in (to_endpoints, to_s3):
        assert (rule["IpProtocol"], rule["FromPort"], rule["ToPort"]) == ("tcp", 443, 443)


def test_the_prefix_list_of_s3_can_take_the_place_of_all_addresses() -> None:
    stack = Stack(App(), "Stack")
    group, endpoints = _nodes(stack, https_egress=False)
    prefix_list = ec2.PrefixList.from_prefix_list_id(stack, "S3", "pl-68a54001")
    group.allow_endpoints(endpoints, s3_prefix_list=prefix_list)
    _, to_s3 = _egress(stack)
    assert to_s3["DestinationPrefixListId"] == "pl-68a54001"
    assert "CidrIp" not in to_s3


def test_no_rule_is_said_twice_where_https_is_open_anyway() -> None:
    stack = Stack(App(), "Stack")
    group, endpoints = _nodes(stack)
    group.allow_endpoints(endpoints)
    assert [rule.get("CidrIp") for rule in _egress(stack)] == ["0.0.0.0/0", None]


def test_what_is_no_endpoints_is_refused() -> None:
    stack = Stack(App(), "Stack")
    group, _ = _nodes(stack)
    with pytest.raises(InvalidInputError, match=r"endpoints: must be the endpoints of a cluster, such as"):
        group.allow_endpoints(None)


@pytest.mark.parametrize("env", [None, Environment(account=ACCOUNT, region=REGION)])
def test_the_template_is_the_same_in_a_stage_and_under_all_feature_flags(
    recommended_feature_flags: dict[str, Any], env: Environment | None
) -> None:
    def resources(scope: Any) -> dict[str, Any]:
        stack = Stack(scope, "Stack", env=env)
        group, endpoints = _nodes(stack, https_egress=False)
        group.allow_endpoints(endpoints)
        found: dict[str, Any] = {}
        for name, resource in _json(stack)["Resources"].items():
            properties = {
                key: value
                for key, value in resource.get("Properties", {}).items()
                if key not in ("Tags", "Description")
            }
            found[name] = {**resource, "Properties": properties}
        return found

    expected = resources(App())
    assert resources(App(context=recommended_feature_flags)) == expected
    assert resources(Stage(App(), "Prod")) == expected


def test_the_page_names_every_endpoint_with_its_orchestrators() -> None:
    page = (Path(__file__).parents[2] / "docs" / "isolated-network.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| `")]
    for found in ENDPOINTS.values():
        row = [cells for cells in rows if f"`{found.service}`" in cells[1]]
        if found.required_by:
            ((_, _, slurm, eks, *_),) = row
            assert (slurm.strip() == "yes", eks.strip() == "yes") == (
                "slurm" in found.required_by,
                "eks" in found.required_by,
            )
        else:
            assert not row
            assert f"`{found.service}`" in page
