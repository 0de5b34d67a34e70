from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from aws_cdk import (
    App,
    Aws,
    CfnOutput,
    CfnParameter,
    CfnResource,
    Environment,
    Fn,
    Lazy,
    NestedStack,
    Stack,
    Stage,
    Token,
)
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Annotations, Match, Template
from constructs import Construct

from hyperpod_constructs.efa_security_group import EfaSecurityGroup
from hyperpod_model.catalog.ports import HTTPS, LUSTRE, TIERED_CHECKPOINTING
from hyperpod_model.faults import InvalidInputError

TIERED_TCP, TIERED_UDP = TIERED_CHECKPOINTING


def _vpc(scope: Construct) -> ec2.IVpc:
    return ec2.Vpc.from_vpc_attributes(
        scope, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-west-2a"]
    )


def _stack(app: App | None = None, name: str = "Network") -> Stack:
    return Stack(App() if app is None else app, name)


def _group(stack: Stack, **options: Any) -> EfaSecurityGroup:
    return EfaSecurityGroup(stack, "Efa", vpc=_vpc(stack), **options)


def _app_of(stack: Stack) -> App:
    root = stack.node.root
    assert isinstance(root, App)
    return root


def _rules(template: Template, direction: str) -> list[dict[str, Any]]:
    found = template.find_resources(f"AWS::EC2::SecurityGroup{direction}")
    return [resource["Properties"] for resource in found.values()]


@pytest.fixture(scope="module")
def default_template() -> Template:
    stack = _stack()
    _group(stack)
    return Template.from_stack(stack)


def test_opens_all_traffic_from_and_to_itself_by_group_id(default_template: Template) -> None:
    (group_id,) = default_template.find_resources("AWS::EC2::SecurityGroup")
    itself = {"Fn::GetAtt": [group_id, "GroupId"]}
    (ingress,) = _rules(default_template, "Ingress")
    assert ingress["GroupId"] == ingress["SourceSecurityGroupId"] == itself
    assert ingress["IpProtocol"] == "-1"
    assert "FromPort" not in ingress
    default_template.has_resource_properties(
        "AWS::EC2::SecurityGroupEgress",
        {
            "GroupId": itself,
            "DestinationSecurityGroupId": itself,
            "IpProtocol": "-1",
            "FromPort": Match.absent(),
        },
    )


def test_the_only_other_way_out_is_https(default_template: Template) -> None:
    others = [rule for rule in _rules(default_template, "Egress") if "DestinationSecurityGroupId" not in rule]
    assert [(rule["IpProtocol"], rule["FromPort"], rule["ToPort"], rule["CidrIp"]) for rule in others] == [
        ("tcp", HTTPS[0].first, HTTPS[0].last, "0.0.0.0/0")
    ]
    assert others[0]["Description"]


def test_the_group_itself_never_allows_all_outbound(default_template: Template) -> None:
    (group,) = default_template.find_resources("AWS::EC2::SecurityGroup").values()
    assert [rule["CidrIp"] for rule in group["Properties"]["SecurityGroupEgress"]] == ["255.255.255.255/32"]
    assert "SecurityGroupIngress" not in group["Properties"]


def test_without_https_egress_only_itself_is_reachable() -> None:
    stack = _stack()
    _group(stack, https_egress=False)
    (egress,) = _rules(Template.from_stack(stack), "Egress")
    assert "DestinationSecurityGroupId" in egress


def test_name_and_description_reach_the_group() -> None:
    stack = _stack()
    _group(stack, security_group_name="nodes", description="mine")
    Template.from_stack(stack).has_resource_properties(
        "AWS::EC2::SecurityGroup", {"GroupName": "nodes", "GroupDescription": "mine"}
    )


@pytest.mark.parametrize(
    ("peer", "expected"),
    [
        (ec2.Peer.ipv4("10.1.0.0/16"), {"CidrIp": "10.1.0.0/16"}),
        (ec2.Peer.ipv6("fd00::/8"), {"CidrIpv6": "fd00::/8"}),
        (ec2.Peer.prefix_list("pl-12345678"), {"DestinationPrefixListId": "pl-12345678"}),
        (
            ec2.Peer.security_group_id("sg-0123456789abcdef0"),
            {"DestinationSecurityGroupId": "sg-0123456789abcdef0"},
        ),
    ],
)
def test_named_egress_is_a_rule_of_its_own(peer: ec2.IPeer, expected: dict[str, str]) -> None:
    stack = _stack()
    group = _group(stack, https_egress=False)
    group.add_named_egress("MirrorEgress", peer=peer, port=ec2.Port.tcp(80), description="package mirror")
    Template.from_stack(stack).has_resource_properties(
        "AWS::EC2::SecurityGroupEgress",
        {**expected, "IpProtocol": "tcp", "FromPort": 80, "ToPort": 80, "Description": "package mirror"},
    )
    assert group.node.try_find_child("MirrorEgress") is not None


def test_egress_of_all_traffic_to_an_address_range_is_refused() -> None:
    group = _group(_stack())
    message = (
        r"egress of EFA security group 'Network/Efa' must name its ports, got all traffic to 0\.0\.0\.0/0"
    )
    with pytest.raises(InvalidInputError, match=message):
        group.add_named_egress(
            "All", peer=ec2.Peer.any_ipv4(), port=ec2.Port.all_traffic(), description="all"
        )
    with pytest.raises(RuntimeError, match=message):
        group.connections.allow_to_any_ipv4(ec2.Port.all_traffic())


def test_egress_of_all_traffic_to_a_group_is_allowed() -> None:
    stack = _stack()
    group = _group(stack)
    peer = ec2.Peer.security_group_id("sg-0123456789abcdef0")
    group.add_named_egress("Peer", peer=peer, port=ec2.Port.all_traffic(), description="peer")
    Template.from_stack(stack).has_resource_properties(
        "AWS::EC2::SecurityGroupEgress",
        {
            "DestinationSecurityGroupId": "sg-0123456789abcdef0",
            "IpProtocol": "-1",
            "FromPort": Match.absent(),
        },
    )


OVERLAPPING = {
    "exact tcp": ec2.Port.tcp(TIERED_TCP.first),
    "tcp range": ec2.Port.tcp_range(9000, 9300),
    "range that ends on it": ec2.Port.tcp_range(9100, TIERED_TCP.first),
    "all tcp": ec2.Port.all_tcp(),
    "exact udp": ec2.Port.udp(TIERED_UDP.first),
    "between two udp listeners": ec2.Port.udp(TIERED_UDP.first + 3),
    "udp range": ec2.Port.udp_range(TIERED_UDP.last, 9999),
    "all udp": ec2.Port.all_udp(),
    "all traffic": ec2.Port.all_traffic(),
}
HARMLESS = {
    "ssh": ec2.Port.tcp(22),
    "tcp below": ec2.Port.tcp_range(1, TIERED_TCP.first - 1),
    "tcp above": ec2.Port.tcp_range(TIERED_TCP.last + 1, 65535),
    "udp number on tcp": ec2.Port.tcp(TIERED_UDP.first),
    "tcp number on udp": ec2.Port.udp(TIERED_TCP.first),
    "ping": ec2.Port.icmp_ping(),
    "all icmp": ec2.Port.all_icmp(),
    "another protocol": ec2.Port.esp(),
}
REFUSED = r"must keep tcp 9200 and udp 9209-9240 \(managed tiered checkpointing\) closed to all but itself"


@pytest.mark.parametrize("port", OVERLAPPING.values(), ids=OVERLAPPING.keys())
def test_refuses_the_checkpoint_ports_at_once(port: ec2.Port) -> None:
    group = _group(_stack())
    with pytest.raises(InvalidInputError, match=REFUSED):
        group.add_ingress_rule(ec2.Peer.ipv4("10.0.0.0/8"), port)
    with pytest.raises(RuntimeError, match=REFUSED):
        group.connections.allow_from_any_ipv4(port)


def test_the_refusal_writes_a_token_as_the_template_would() -> None:
    stack = _stack()
    vpc = ec2.Vpc(stack, "Own", max_azs=1)
    group = EfaSecurityGroup(stack, "OwnEfa", vpc=vpc)
    with pytest.raises(
        InvalidInputError, match=r"to \{'Fn::GetAtt': \['Own[0-9A-F]+', 'CidrBlock'\]\}; name"
    ):
        group.add_ingress_rule(ec2.Peer.ipv4(vpc.vpc_cidr_block), ec2.Port.all_tcp())


def test_the_refusal_names_group_ports_peer_and_way_out() -> None:
    group = _group(_stack())
    with pytest.raises(InvalidInputError) as refused:
        group.add_ingress_rule(ec2.Peer.ipv4("10.0.0.0/8"), ec2.Port.tcp_range(9000, 9300))
    assert str(refused.value) == (
        "EFA security group 'Network/Efa' must keep tcp 9200 and udp 9209-9240 (managed tiered "
        "checkpointing) closed to all but itself, got a rule that opens 9000-9300 to 10.0.0.0/8; name ports "
        "outside them, or put the peer into this group"
    )


def test_refuses_another_efa_group_of_the_same_job() -> None:
    stack = _stack()
    group = _group(stack)
    other = EfaSecurityGroup(stack, "Other", vpc=_vpc(Construct(stack, "OtherScope")))
    with pytest.raises(RuntimeError, match=REFUSED):
        group.connections.allow_from(other, ec2.Port.all_traffic())


@pytest.fixture(scope="module")
def harmless_template() -> Template:
    stack = _stack()
    group = _group(stack)
    for index, port in enumerate(HARMLESS.values()):
        group.add_ingress_rule(ec2.Peer.ipv4(f"10.{index}.0.0/16"), port)
    group.connections.allow_internally(ec2.Port.all_traffic())
    group.connections.allow_internally(ec2.Port.tcp(TIERED_TCP.first))
    alias = ec2.SecurityGroup.from_security_group_id(stack, "Alias", group.security_group_id)
    group.add_ingress_rule(alias, ec2.Port.all_traffic())
    return Template.from_stack(stack)


def test_other_ports_are_added(harmless_template: Template) -> None:
    (group,) = harmless_template.find_resources("AWS::EC2::SecurityGroup").values()
    assert [rule["CidrIp"] for rule in group["Properties"]["SecurityGroupIngress"]] == [
        f"10.{index}.0.0/16" for index in range(len(HARMLESS))
    ]


def test_rules_from_and_to_itself_are_not_added_twice(harmless_template: Template) -> None:
    assert len(_rules(harmless_template, "Ingress")) == 1
    assert (
        len([rule for rule in _rules(harmless_template, "Egress") if "DestinationSecurityGroupId" in rule])
        == 1
    )


def test_unknown_ports_pass_with_a_warning() -> None:
    stack = _stack()
    group = _group(stack)
    port = CfnParameter(stack, "Port", type="Number")
    group.add_ingress_rule(ec2.Peer.ipv4("10.0.0.0/8"), ec2.Port.tcp(port.value_as_number))
    Annotations.from_stack(stack).has_warning(
        "/Network/Efa", Match.string_like_regexp("known at deployment only.*tcp 9200 and udp 9209-9240")
    )
    Template.from_stack(stack).has_resource_properties(
        "AWS::EC2::SecurityGroupIngress",
        {"FromPort": {"Ref": "Port"}, "IpProtocol": "tcp", "CidrIp": "10.0.0.0/8"},
    )


def test_unknown_ports_that_cannot_reach_pass_silently() -> None:
    stack = _stack()
    group = _group(stack)
    last = CfnParameter(stack, "Last", type="Number").value_as_number
    group.add_ingress_rule(ec2.Peer.ipv4("10.0.0.0/8"), ec2.Port.tcp_range(30000, last))
    Annotations.from_stack(stack).has_no_warning("*", Match.any_value())


def _alias(scope: Construct, group: EfaSecurityGroup) -> None:
    alias = ec2.SecurityGroup.from_security_group_id(scope, "Alias", group.security_group_id)
    alias.add_ingress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(TIERED_TCP.first))


def _l1(scope: Construct, group_id: Any, **source: Any) -> None:
    ec2.CfnSecurityGroupIngress(
        scope,
        "Rule",
        group_id=group_id,
        ip_protocol="udp",
        from_port=TIERED_UDP.first,
        to_port=TIERED_UDP.first,
        **(source or {"cidr_ipv6": "::/0"}),
    )


def _generic(scope: Construct, group_id: Any, **properties: Any) -> None:
    CfnResource(
        scope,
        "Generic",
        type="AWS::EC2::SecurityGroupIngress",
        properties={"GroupId": group_id, "IpProtocol": "-1", "CidrIp": "10.0.0.0/8", **properties},
    )


def _l1_by_ref(scope: Construct, group: EfaSecurityGroup) -> None:
    resource = group.node.default_child
    assert isinstance(resource, CfnResource)
    _l1(scope, resource.ref)


def _written_as(function: Callable[[str], Any]) -> Callable[[Construct, EfaSecurityGroup], None]:
    def add(scope: Construct, group: EfaSecurityGroup) -> None:
        resource = group.node.default_child
        assert isinstance(resource, CfnResource)
        _generic(scope, function(group.stack.resolve(resource.logical_id)))

    return add


def _inside_the_group(scope: Construct, group: EfaSecurityGroup) -> None:
    resource = group.node.default_child
    assert isinstance(resource, ec2.CfnSecurityGroup)
    resource.security_group_ingress = [
        ec2.CfnSecurityGroup.IngressProperty(
            ip_protocol="tcp", from_port=0, to_port=65535, source_prefix_list_id="pl-12345678"
        )
    ]


def _inside_the_group_on_a_condition(scope: Construct, group: EfaSecurityGroup) -> None:
    resource = group.node.default_child
    assert isinstance(resource, ec2.CfnSecurityGroup)
    everything = {"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}
    resource.security_group_ingress = [Fn.condition_if("Chosen", {"Ref": "AWS::NoValue"}, everything)]


def _a_list_inside_the_group_on_a_condition(scope: Construct, group: EfaSecurityGroup) -> None:
    resource = group.node.default_child
    assert isinstance(resource, ec2.CfnSecurityGroup)
    everything = {"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}
    resource.security_group_ingress = Fn.condition_if("Chosen", [everything], {"Ref": "AWS::NoValue"})


ROUTES: dict[str, Callable[[Construct, EfaSecurityGroup], None]] = {
    "imported alias": _alias,
    "L1 rule": lambda scope, group: _l1(scope, group.security_group_id),
    "L1 rule by Ref": _l1_by_ref,
    "L1 rule from another group": lambda scope, group: _l1(
        scope, group.security_group_id, source_security_group_id="sg-0123456789abcdef0"
    ),
    "L1 rule by a lazy id": lambda scope, group: _l1(
        scope, Lazy.uncached_string(_Produced(group.security_group_id))
    ),
    "generic resource": lambda scope, group: _generic(scope, group.security_group_id),
    "Fn::If": lambda scope, group: _l1(
        scope, Fn.condition_if("Chosen", group.security_group_id, "sg-0123456789abcdef0").to_string()
    ),
    "Fn::Sub": lambda scope, group: _l1(scope, Fn.sub("${Group}", {"Group": group.security_group_id})),
    "Fn::Select": lambda scope, group: _l1(scope, Fn.select(0, Fn.split(",", group.security_group_id))),
    "Fn::Join": lambda scope, group: _l1(scope, Fn.join("", [group.security_group_id, Aws.NO_VALUE])),
    "an alias by Fn::If": lambda scope, group: ec2.SecurityGroup.from_security_group_id(
        scope, "Alias", Fn.condition_if("Chosen", "sg-0123456789abcdef0", group.security_group_id).to_string()
    ).add_ingress_rule(ec2.Peer.any_ipv4(), ec2.Port.all_traffic()),
    "generic resource with ports as text": lambda scope, group: _generic(
        scope, group.security_group_id, IpProtocol="6", FromPort="9200", ToPort="9200"
    ),
}
SAME_STACK_ROUTES: dict[str, Callable[[Construct, EfaSecurityGroup], None]] = {
    "Fn::GetAtt as a list": _written_as(lambda logical_id: {"Fn::GetAtt": [logical_id, "GroupId"]}),
    "Fn::GetAtt as a text": _written_as(lambda logical_id: {"Fn::GetAtt": f"{logical_id}.GroupId"}),
    "Fn.get_att": _written_as(lambda logical_id: Fn.get_att(logical_id, "GroupId")),
    "Ref": _written_as(lambda logical_id: {"Ref": logical_id}),
    "Fn::Sub of its id": _written_as(lambda logical_id: {"Fn::Sub": f"${{{logical_id}.GroupId}}"}),
    "Fn::Sub of its reference": _written_as(lambda logical_id: {"Fn::Sub": [f"${{{logical_id}}}", {}]}),
    "the group's own property": _inside_the_group,
    "the group's own property, on a condition": _inside_the_group_on_a_condition,
    "the group's own property, in a list on a condition": _a_list_inside_the_group_on_a_condition,
    "L1 rule from itself and from addresses": lambda scope, group: _l1(
        scope,
        group.security_group_id,
        source_security_group_id=group.security_group_id,
        cidr_ip="0.0.0.0/0",
    ),
}


def _producer() -> type:
    import jsii
    from aws_cdk import IStringProducer

    @jsii.implements(IStringProducer)
    class Produced:
        def __init__(self, value: str) -> None:
            self._value = value

        def produce(self, context: Any) -> str:
            return self._value

    return Produced


_Produced: type = _producer()


def _same_stack(app: App) -> tuple[EfaSecurityGroup, Construct]:
    stack = _stack(app)
    return _group(stack), stack


def _other_stack(app: App) -> tuple[EfaSecurityGroup, Construct]:
    return _group(_stack(app)), _stack(app, "Other")


def _nested_below(app: App) -> tuple[EfaSecurityGroup, Construct]:
    stack = _stack(app)
    return _group(stack), NestedStack(stack, "Nested")


def _group_in_nested(app: App) -> tuple[EfaSecurityGroup, Construct]:
    stack = _stack(app)
    return _group(NestedStack(stack, "Nested")), stack


def _in_stage(app: App) -> tuple[EfaSecurityGroup, Construct]:
    stage = Stage(app, "Prod")
    return _group(Stack(stage, "Network")), Stack(stage, "Other")


PLACES: dict[str, Callable[[App], tuple[EfaSecurityGroup, Construct]]] = {
    "same stack": _same_stack,
    "other stack": _other_stack,
    "nested stack": _nested_below,
    "group in a nested stack": _group_in_nested,
    "stage": _in_stage,
}


def _cases() -> Iterator[Any]:
    for place, make in PLACES.items():
        for route, add in ROUTES.items():
            yield pytest.param(make, add, id=f"{route}, {place}")
    for route, add in SAME_STACK_ROUTES.items():
        yield pytest.param(_same_stack, add, id=f"{route}, same stack")


@pytest.mark.parametrize(("make", "add"), list(_cases()))
def test_synthesis_refuses_the_checkpoint_ports_whatever_the_route(
    make: Callable[[App], tuple[EfaSecurityGroup, Construct]],
    add: Callable[[Construct, EfaSecurityGroup], None],
) -> None:
    app = App()
    group, scope = make(app)
    add(scope, group)
    with pytest.raises(RuntimeError, match=REFUSED):
        app.synth()


def test_synthesis_names_the_offending_rule() -> None:
    app = App()
    group, scope = _other_stack(app)
    _l1(scope, group.security_group_id)
    with pytest.raises(RuntimeError, match=r"opens udp 9209 to ::/0; .* \(rule at 'Other/Rule'\)"):
        app.synth()


def test_synthesis_refuses_a_rule_through_a_nested_stack_parameter() -> None:
    app = App()
    stack = _stack(app)
    group = _group(stack)
    nested = NestedStack(stack, "Nested", parameters={"Group": group.security_group_id})
    _l1(nested, CfnParameter(nested, "Group").value_as_string)
    with pytest.raises(RuntimeError, match=REFUSED):
        app.synth()


def test_synthesis_refuses_a_rule_through_an_explicit_export() -> None:
    app = App()
    stack = _stack(app)
    group = _group(stack)
    CfnOutput(stack, "GroupId", value=group.security_group_id, export_name="efa-group")
    _l1(_stack(app, "Other"), Fn.import_value("efa-group"))
    with pytest.raises(RuntimeError, match=REFUSED):
        app.synth()


@pytest.mark.parametrize("name", ["efa-group", {"Fn::Sub": "efa-group"}], ids=["text", "Fn::Sub"])
def test_synthesis_refuses_a_rule_through_an_export_of_a_choice(name: Any) -> None:
    app = App()
    stack = _stack(app)
    group = _group(stack)
    chosen = Fn.condition_if("Chosen", group.security_group_id, "sg-0123456789abcdef0").to_string()
    CfnOutput(stack, "GroupId", value=chosen, export_name="efa-group")
    _l1(_stack(app, "Other"), Token.as_string({"Fn::ImportValue": name}))
    with pytest.raises(RuntimeError, match=REFUSED):
        app.synth()


def test_synthesis_refuses_a_rule_through_a_list_parameter_of_a_nested_stack() -> None:
    app = App()
    stack = _stack(app)
    ids = Fn.join(",", ["sg-0123456789abcdef0", _group(stack).security_group_id])
    nested = NestedStack(stack, "Nested", parameters={"Groups": ids})
    groups = CfnParameter(nested, "Groups", type="List<AWS::EC2::SecurityGroup::Id>").value_as_list
    _l1(nested, Fn.select(1, groups))
    with pytest.raises(RuntimeError, match=REFUSED):
        app.synth()


def test_a_choice_between_itself_and_another_is_another_source() -> None:
    app = App()
    stack = _stack(app)
    group = _group(stack)
    source = Fn.condition_if("Chosen", group.security_group_id, "sg-0123456789abcdef0").to_string()
    _l1(stack, group.security_group_id, source_security_group_id=source)
    with pytest.raises(RuntimeError, match=REFUSED):
        app.synth()


def test_synthesis_refuses_rules_added_before_the_group_is_known_to_be_one() -> None:
    app = App()
    stack = _stack(app)
    late = Stack(app, "Early")
    scope = Construct(late, "Scope")
    group = _group(stack)
    _alias(scope, group)
    with pytest.raises(RuntimeError, match=REFUSED):
        app.synth()


@pytest.fixture(scope="module")
def guarded_app() -> App:
    app = App()
    stack = _stack(app)
    group = _group(stack)
    other = Stack(app, "Other")
    neighbour = ec2.CfnSecurityGroup(other, "Neighbour", group_description="same logical ids, another group")
    neighbour.override_logical_id(stack.resolve(group.node.default_child.logical_id))  # type: ignore[union-attr]
    _generic(other, {"Fn::GetAtt": [stack.resolve(group.node.default_child.logical_id), "GroupId"]})  # type: ignore[union-attr]
    itself = Construct(other, "Itself")
    _l1(itself, group.security_group_id, source_security_group_id=group.security_group_id)
    ec2.CfnSecurityGroupIngress(
        other,
        "Ssh",
        group_id=group.security_group_id,
        ip_protocol="tcp",
        from_port=22,
        to_port=22,
        cidr_ip="10.0.0.0/8",
    )
    _l1(Construct(other, "Literal"), "sg-0123456789abcdef0")
    _l1(Construct(other, "Imported"), Fn.import_value("somebody-elses-group"))
    _l1(Construct(other, "Chosen"), Fn.condition_if("Chosen", "sg-1", Fn.import_value("foreign")).to_string())
    _l1(Construct(other, "Filled"), Fn.sub("${Prefix}-${!Literal}${AWS::StackId}", {"Prefix": "sg"}))
    CfnOutput(other, "Foreign", value="x", export_name="foreign")
    app.synth()
    return app


def test_synthesis_accepts_rules_on_other_groups_and_from_itself(guarded_app: App) -> None:
    assert len(guarded_app.synth().stacks) == 2


def test_unknown_ports_of_a_foreign_rule_pass_with_a_warning() -> None:
    app = App()
    group, scope = _other_stack(app)
    ec2.CfnSecurityGroupIngress(
        scope,
        "Rule",
        group_id=group.security_group_id,
        ip_protocol=Token.as_string({"Ref": "Protocol"}),
        cidr_ip="10.0.0.0/8",
    )
    CfnParameter(scope, "Protocol")
    Annotations.from_stack(group.stack).has_warning(
        "/Network/Efa", Match.string_like_regexp("the rule at 'Other/Rule' has ports or a protocol")
    )


@pytest.fixture(scope="module")
def lustre_template() -> Template:
    stack = _stack()
    group = _group(stack)
    file_system_group = ec2.SecurityGroup(stack, "FileSystem", vpc=group_vpc(stack), allow_all_outbound=False)
    rules = group.allow_lustre(file_system_group)
    assert group.allow_lustre(file_system_group) is rules
    return Template.from_stack(stack)


def group_vpc(stack: Stack) -> ec2.IVpc:
    return stack.node.find_child("Vpc")  # type: ignore[return-value]


@pytest.mark.parametrize("ports", LUSTRE, ids=str)
def test_allow_lustre_opens_its_ports_both_ways(lustre_template: Template, ports: Any) -> None:
    groups = lustre_template.find_resources("AWS::EC2::SecurityGroup")
    efa, file_system = (
        {"Fn::GetAtt": [next(name for name in groups if name.startswith(prefix)), "GroupId"]}
        for prefix in ("Efa", "FileSystem")
    )
    expected = {"IpProtocol": "tcp", "FromPort": ports.first, "ToPort": ports.last}
    for opened, peer in ((efa, file_system), (file_system, efa)):
        lustre_template.has_resource_properties(
            "AWS::EC2::SecurityGroupIngress", {**expected, "GroupId": opened, "SourceSecurityGroupId": peer}
        )
        lustre_template.has_resource_properties(
            "AWS::EC2::SecurityGroupEgress",
            {**expected, "GroupId": opened, "DestinationSecurityGroupId": peer},
        )


def test_allow_lustre_adds_nothing_twice(lustre_template: Template) -> None:
    assert len(_rules(lustre_template, "Ingress")) == 1 + 2 * len(LUSTRE)


def test_lustre_rules_make_no_cycle_between_stacks() -> None:
    app = App()
    network, storage = _stack(app), Stack(app, "Storage")
    group = _group(network)
    file_system_group = ec2.SecurityGroup(storage, "FileSystem", vpc=_vpc(storage), allow_all_outbound=False)
    group.allow_lustre(file_system_group)
    app.synth()
    assert [stack.node.path for stack in storage.dependencies] == ["Network"]
    assert network.dependencies == []


def _efa_lustre(app: App) -> tuple[Stack, EfaSecurityGroup, ec2.SecurityGroup]:
    stack = _stack(app)
    group = _group(stack)
    file_system_group = ec2.SecurityGroup(stack, "FileSystem", vpc=group_vpc(stack), allow_all_outbound=False)
    group.allow_efa_lustre(file_system_group)
    group.allow_efa_lustre(file_system_group)
    return stack, group, file_system_group


def test_allow_efa_lustre_opens_all_traffic_between_the_two() -> None:
    stack, _, file_system_group = _efa_lustre(App())
    file_system_group.connections.allow_internally(ec2.Port.all_traffic())
    template = Template.from_stack(stack)
    between = [
        rule for rule in _rules(template, "Ingress") if rule["SourceSecurityGroupId"] != rule["GroupId"]
    ]
    assert [rule["IpProtocol"] for rule in between] == ["-1", "-1"]
    between = [
        rule
        for rule in _rules(template, "Egress")
        if rule.get("DestinationSecurityGroupId") not in (None, rule["GroupId"])
    ]
    assert [rule["IpProtocol"] for rule in between] == ["-1", "-1"]


def test_an_efa_file_system_must_admit_nobody_else() -> None:
    app = App()
    _, _, file_system_group = _efa_lustre(app)
    file_system_group.add_ingress_rule(ec2.Peer.ipv4("10.9.0.0/16"), ec2.Port.tcp(22))
    with pytest.raises(
        RuntimeError,
        match=r"'Network/FileSystem' of an EFA-enabled file system must admit nobody but itself and "
        r"'Network/Efa'.*opens tcp 22 to 10\.9\.0\.0/16",
    ):
        app.synth()


def test_an_efa_file_system_must_not_admit_a_second_cluster() -> None:
    app = App()
    stack, _, file_system_group = _efa_lustre(app)
    second = EfaSecurityGroup(stack, "Second", vpc=group_vpc(stack))
    second.allow_lustre(file_system_group)
    with pytest.raises(RuntimeError, match=r"opens tcp 988 to security group 'Network/Second/Resource'"):
        app.synth()


def test_the_exception_covers_no_other_rule_from_the_file_system() -> None:
    app = App()
    stack, group, file_system_group = _efa_lustre(app)
    _l1(stack, group.security_group_id, source_security_group_id=file_system_group.security_group_id)
    with pytest.raises(RuntimeError, match=REFUSED):
        app.synth()


def test_the_exception_covers_nobody_else_beside_its_own_rules() -> None:
    app = App()
    stack = _stack(app)
    group = _group(stack)
    file_system_group = ec2.SecurityGroup(stack, "FileSystem", vpc=group_vpc(stack), allow_all_outbound=False)
    _l1(group.allow_efa_lustre(file_system_group), group.security_group_id)
    with pytest.raises(RuntimeError, match=REFUSED):
        app.synth()


def test_an_efa_file_system_must_admit_nobody_else_on_a_condition() -> None:
    app = App()
    stack, _, file_system_group = _efa_lustre(app)
    _l1(
        stack,
        Fn.condition_if("Chosen", file_system_group.security_group_id, "sg-0123456789abcdef0").to_string(),
    )
    with pytest.raises(RuntimeError, match="must admit nobody but itself"):
        app.synth()


@pytest.mark.parametrize(
    "imported", ["sg-0123456789abcdef0", Fn.import_value("file-system-group")], ids=["literal", "import"]
)
def test_a_choice_of_an_imported_efa_file_system_group_is_recognized(imported: str) -> None:
    app = App()
    stack = _stack(app)
    group = _group(stack)
    group.allow_efa_lustre(ec2.SecurityGroup.from_security_group_id(stack, "FileSystem", imported))
    _l1(stack, imported)
    with pytest.raises(RuntimeError, match="must admit nobody but itself"):
        app.synth()


def test_the_group_that_eks_makes_is_no_group_of_this_app() -> None:
    stack = _stack()
    group = _group(stack)
    cluster = CfnResource(stack, "Eks", type="AWS::EKS::Cluster")
    made_by_eks = ec2.SecurityGroup.from_security_group_id(
        stack, "FileSystem", cluster.get_att("ClusterSecurityGroupId").to_string()
    )
    group.allow_efa_lustre(made_by_eks)
    Annotations.from_stack(stack).has_warning(
        "/Network/Efa", Match.string_like_regexp("imported security group of 'Network/FileSystem'")
    )


def test_an_imported_efa_file_system_group_leaves_a_warning() -> None:
    stack = _stack()
    group = _group(stack)
    imported = ec2.SecurityGroup.from_security_group_id(stack, "FileSystem", "sg-0123456789abcdef0")
    group.allow_efa_lustre(imported)
    Annotations.from_stack(stack).has_warning(
        "/Network/Efa", Match.string_like_regexp("imported security group of 'Network/FileSystem'")
    )


def test_an_imported_efa_file_system_group_must_admit_nobody_else_in_this_app() -> None:
    app = App()
    stack = _stack(app)
    group = _group(stack)
    group.allow_efa_lustre(
        ec2.SecurityGroup.from_security_group_id(stack, "FileSystem", "sg-0123456789abcdef0")
    )
    _l1(stack, "sg-0123456789abcdef0")
    with pytest.raises(RuntimeError, match="must admit nobody but itself"):
        app.synth()


def test_a_peer_with_connections_can_let_the_nodes_in() -> None:
    stack = _stack()
    group = _group(stack)
    database = ec2.SecurityGroup(stack, "Database", vpc=group_vpc(stack), allow_all_outbound=False)
    database.connections.allow_from(group, ec2.Port.tcp(3306))
    template = Template.from_stack(stack)
    template.has_resource_properties("AWS::EC2::SecurityGroupIngress", {"FromPort": 3306})
    template.has_resource_properties("AWS::EC2::SecurityGroupEgress", {"FromPort": 3306})


def test_imports_are_plain_security_groups() -> None:
    stack = _stack()
    imported = EfaSecurityGroup.from_security_group_id(stack, "Imported", "sg-0123456789abcdef0")
    imported.add_ingress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(TIERED_TCP.first))
    Template.from_stack(stack).resource_count_is("AWS::EC2::SecurityGroupIngress", 1)


def test_works_with_an_account_and_a_region() -> None:
    stack = Stack(App(), "Network", env=Environment(account="123456789012", region="us-west-2"))
    _group(stack)
    Template.from_stack(stack).resource_count_is("AWS::EC2::SecurityGroup", 1)


def test_refuses_the_checkpoint_ports_when_the_peer_asks() -> None:
    stack = _stack()
    group = _group(stack)
    peer = ec2.SecurityGroup(stack, "Peer", vpc=group_vpc(stack), allow_all_outbound=False)
    with pytest.raises(RuntimeError, match=REFUSED):
        peer.connections.allow_to(group, ec2.Port.tcp(TIERED_TCP.first))


def test_whatever_depends_on_the_group_waits_for_all_of_its_rules() -> None:
    stack = _stack()
    group = _group(stack)
    consumer = CfnResource(stack, "Consumer", type="Some::Consumer::Type")
    consumer.node.add_dependency(group)
    peer = ec2.SecurityGroup.from_security_group_id(stack, "Peer", "sg-0123456789abcdef0")
    group.connections.allow_from(peer, ec2.Port.tcp(22))
    group.add_named_egress("Late", peer=peer, port=ec2.Port.tcp(80), description="late")
    resources = Template.from_stack(stack).to_json()["Resources"]
    rules = {name for name, resource in resources.items() if "SecurityGroup" in resource["Type"]}
    assert len(rules) == 6
    assert rules == set(resources["Consumer"]["DependsOn"])


def test_nodes_of_a_later_stack_reach_a_file_system_through_an_alias_of_its_group() -> None:
    app = App()
    storage, cluster = _stack(app, "Storage"), Stack(app, "Cluster")
    file_system_group = ec2.SecurityGroup(storage, "FileSystem", vpc=_vpc(storage), allow_all_outbound=False)
    group = _group(cluster)
    alias = ec2.SecurityGroup.from_security_group_id(cluster, "Alias", file_system_group.security_group_id)
    group.allow_efa_lustre(alias)
    app.synth()
    assert [stack.node.path for stack in cluster.dependencies] == ["Storage"]
    assert storage.dependencies == []
    file_system_group.add_ingress_rule(ec2.Peer.ipv4("10.9.0.0/16"), ec2.Port.tcp(22))
    with pytest.raises(RuntimeError, match="must admit nobody but itself"):
        app.synth(force=True)


def test_the_template_is_the_same_in_a_stage_and_under_all_feature_flags(
    recommended_feature_flags: dict[str, Any],
) -> None:
    def resources(scope: Construct) -> Any:
        stack = Stack(scope, "Network")
        group = _group(stack)
        group.connections.allow_from(ec2.Peer.ipv4("10.0.0.0/8"), ec2.Port.tcp(22), "bastion")
        group.allow_lustre(
            ec2.SecurityGroup(
                stack,
                "FileSystem",
                vpc=group_vpc(stack),
                allow_all_outbound=False,
                disable_inline_rules=False,
                description="file system",
            )
        )
        return Template.from_stack(stack).to_json()["Resources"]

    expected = resources(App())
    assert resources(App(context=recommended_feature_flags)) == expected
    assert resources(Stage(App(), "Prod")) == expected
