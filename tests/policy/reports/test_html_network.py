"""The network: read from templates in any state, and drawn so that it can be read."""

from __future__ import annotations

from itertools import combinations

import pytest
from assemblies import assembly_of, spec_of
from drawn_networks import Drawing

from hyperpod_policy.documents import Document
from hyperpod_policy.reports.html.network.marks import Marks
from hyperpod_policy.reports.html.network.plan import plan
from hyperpod_policy.reports.html.network.ports import ports
from hyperpod_policy.reports.html.network.reach import together
from hyperpod_policy.reports.html.network.reading import network_of
from hyperpod_policy.review import review
from hyperpod_policy.sources import load


def read(template, **nested):
    return network_of((Document(template, file="t.json", **nested),))


def admitted(network):
    return {
        (network.source(one.source).label, network.group(one.target).label): (one.traffic, one.breadth)
        for one in network.admissions
    }


def ingress(**more):
    return {
        "Type": "AWS::EC2::SecurityGroupIngress",
        "Properties": {"GroupId": {"Ref": "NodeGroup"}, "IpProtocol": "tcp", "FromPort": 22, "ToPort": 22}
        | more,
    }


def test_a_network_is_read_with_what_stands_in_it(template):
    network = read(template)
    (vpc,) = network.vpcs
    assert (vpc.label, vpc.addresses, vpc.is_made) == ("VPC Vpc", "10.0.0.0/16", True)
    (zone,) = vpc.zones
    (subnet,) = zone.subnets
    assert (zone.label, subnet.label, subnet.addresses) == ("usw2-az1", "Subnet", "10.0.0.0/17")
    assert (subnet.way_out, subnet.is_public, subnet.access_list) == ("out by NAT gateway", False, "Acl")
    stands = {
        member.title: (member.kind, network.numbers_of(member)) for member in network.members_in(subnet)
    }
    assert stands["workers"] == ("nodes", [1])
    assert stands["FileSystem"] == ("file system", [2])
    workers = next(member for member in network.members if member.title == "workers")
    assert workers.details == ("16 \N{MULTIPLICATION SIGN} ml.p5.48xlarge", "EFA between its nodes")
    assert [group.label for group in network.groups] == ["NodeGroup", "LustreGroup"]
    assert network.groups[0].members[-1] == "workers"


def test_who_is_admitted_is_read_from_the_rules(template):
    assert admitted(read(template)) == {
        ("NodeGroup", "NodeGroup"): ("all traffic", "self"),
        ("NodeGroup", "LustreGroup"): ("tcp 988, 1018-1023", "group"),
        ("LustreGroup", "NodeGroup"): ("tcp 988, 1018-1023", "group"),
        ("LustreGroup", "LustreGroup"): ("tcp 988, 1018-1023", "self"),
    }
    assert read(template).groups[0].sends == (
        "all traffic to itself",
        "tcp 443 to everybody (0.0.0.0/0)",
        "tcp 988, 1018-1023 to LustreGroup",
    )


@pytest.mark.parametrize(
    ("peer", "source", "breadth", "certain"),
    [
        pytest.param({"CidrIp": "0.0.0.0/0"}, "everybody", "world", True, id="everybody"),
        pytest.param({"CidrIpv6": "::/0"}, "everybody", "world", True, id="everybody by IPv6"),
        pytest.param({"CidrIp": "64.0.0.0/4"}, "64.0.0.0/4", "wide", True, id="very many"),
        pytest.param({"CidrIp": "10.9.0.0/16"}, "10.9.0.0/16", "addresses", True, id="addresses"),
        pytest.param({"SourcePrefixListId": "pl-1"}, "pl-1", "addresses", True, id="a prefix list"),
        pytest.param({"SourceSecurityGroupId": "sg-1"}, "sg-1", "group", True, id="a group of elsewhere"),
        pytest.param({"SourceSecurityGroupName": "x"}, "x", "unknown", False, id="a name"),
        pytest.param(
            {"CidrIp": {"Fn::ImportValue": "office"}}, "import office", "unknown", False, id="unresolved"
        ),
    ],
)
def test_whom_a_rule_admits(peer, source, breadth, certain, template):
    template["Resources"]["Ssh"] = ingress(**peer)
    network = read(template)
    (found,) = [one for one in network.admissions if one.traffic == "tcp 22"]
    assert (network.source(found.source).label, found.breadth, found.is_certain) == (source, breadth, certain)
    drawn = Drawing(ports(network, Marks(), "n"))
    arrow = drawn.classes("way")[network.admissions.index(found)]
    assert breadth in arrow
    assert ("unclear" in arrow) is not certain
    assert f"{source} may reach NodeGroup: tcp 22." in drawn.described


def test_addresses_of_a_subnet_are_called_by_it(template):
    template["Resources"]["Ssh"] = ingress(CidrIp="10.0.0.0/17")
    (source,) = [one for one in read(template).sources if one.label == "10.0.0.0/17"]
    assert source.detail == "addresses of Subnet"


def test_a_group_of_elsewhere_admits_nobody_knows_whom(template):
    template["Resources"]["Cluster"]["Properties"]["VpcConfig"]["SecurityGroupIds"] = ["sg-0123"]
    network = read(template)
    assert ("whoever else is admitted", "sg-0123") in admitted(network)
    assert network.groups[0].sends == ("what its rules outside the templates say",)


def test_a_group_without_rules_says_so(template):
    template["Resources"] = {
        name: resource
        for name, resource in template["Resources"].items()
        if not resource["Type"].startswith("AWS::EC2::SecurityGroup") or name == "NodeGroup"
    }
    network = read(template)
    assert network.groups[0].sends[0].startswith("everything, to everybody")
    assert "admits nobody" in Drawing(ports(network, Marks(), "n")).texts()


def test_a_public_subnet_shows(template):
    route = template["Resources"]["Route"]["Properties"]
    del route["NatGatewayId"]
    route["GatewayId"] = {"Ref": "InternetGateway"}
    network = read(template)
    subnet = network.vpcs[0].zones[0].subnets[0]
    assert (subnet.way_out, subnet.is_public) == ("public: straight to the internet", True)
    marks = Marks()
    marks.add(review(template, file="t.json").open)
    drawn = Drawing(plan(network, marks, "n"))
    assert len(drawn.of("public")) == 1
    assert any(text.endswith(("error", "errors")) for text in drawn.texts())
    assert not Drawing(plan(network, Marks(), "n")).classes("mark")


@pytest.mark.parametrize(
    ("change", "way"),
    [
        pytest.param({"GatewayId": "vgw-1"}, "to gateway vgw-1", id="a VPN gateway"),
        pytest.param({"TransitGatewayId": "tgw-1"}, "to a transit gateway", id="a transit gateway"),
        pytest.param({"GatewayId": {"Fn::ImportValue": "x"}}, "to gateway import x", id="unresolved"),
        pytest.param({}, "no way out of the VPC", id="none"),
    ],
)
def test_ways_out(change, way, template):
    route = template["Resources"]["Route"]["Properties"]
    del route["NatGatewayId"]
    route |= change
    subnet = read(template).vpcs[0].zones[0].subnets[0]
    assert subnet.way_out == way
    assert subnet.is_public is not True


def test_what_is_not_in_the_templates_is_drawn_as_such(template):
    template["Resources"]["Cluster"]["Properties"]["VpcConfig"]["Subnets"] = [
        "subnet-1",
        {"Fn::ImportValue": "s"},
    ]
    del template["Resources"]["FileSystem"]
    network = read(template)
    (vpc,) = network.vpcs
    assert [subnet.label for zone in vpc.zones for subnet in zone.subnets] == ["subnet-1", "import s"]
    drawn = Drawing(plan(network, Marks(), "n"))
    assert len(drawn.of("outside")) == 3
    assert len(drawn.of("card")) == 2 * len(network.members)


def test_open_conditions_are_told(template):
    template["Parameters"] = {"Stage": {"Type": "String", "Default": "a", "AllowedValues": ["a", "b"]}}
    template["Resources"]["Vpc"]["Properties"]["CidrBlock"] = {"Ref": "Stage"}
    assert "Drawn for one case of several: parameter Stage is a." in read(template).notes


def test_without_a_cluster_there_is_no_network(template):
    del template["Resources"]["Cluster"]
    assert read(template) is None


@pytest.mark.parametrize("value", [{"Ref": "Nothing"}, [], "x", {"Fn::If": ["C", "a"]}, 7, None, {"a": {}}])
@pytest.mark.parametrize("place", ["VpcConfig", "InstanceGroups"])
def test_malformed_clusters_are_drawn_as_far_as_they_tell(place, value, template):
    template["Resources"]["Cluster"]["Properties"][place] = value
    network = read(template)
    Drawing(plan(network, Marks(), "n"))
    Drawing(ports(network, Marks(), "n"))


@pytest.mark.parametrize(
    ("traffic", "words"),
    [
        (["tcp 443", "tcp 53", "udp 53", "tcp 443"], "tcp 53, 443; udp 53"),
        (["all traffic", "tcp 1018-1023", "tcp 988"], "all traffic; tcp 988, 1018-1023"),
        (["all tcp ports"], "all tcp ports"),
    ],
)
def test_traffic_in_one_line(traffic, words):
    assert together(traffic) == words


def many_groups(template):
    groups = template["Resources"]["Cluster"]["Properties"]["InstanceGroups"]
    for number in range(20):
        groups.append({**groups[-1], "InstanceGroupName": f"a-group-with-quite-a-long-name-{number}"})
    for number in range(12):
        template["Resources"][f"Rule{number}"] = ingress(CidrIp=f"10.{number}.0.0/16")
        template["Resources"][f"More{number}"] = {
            "Type": "AWS::EC2::Subnet",
            "Properties": {
                "VpcId": {"Ref": "Vpc"},
                "AvailabilityZone": {"Fn::Select": [number % 4, {"Fn::GetAZs": ""}]},
            },
        }
    return read(template)


@pytest.fixture(scope="module", params=["llm-train.yaml", "llm-train-eks.yaml"])
def example(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("assembly")
    return network_of(load([assembly_of(spec_of(request.param), folder)]).documents)


def assert_readable(network):
    drawn = Drawing(plan(network, Marks(), "n"))
    cards, subnets, zones = drawn.of("card"), drawn.of("subnet"), drawn.of("zone")
    assert cards
    for inner, outer in ((cards, subnets), (subnets, zones), (zones, drawn.of("vpc"))):
        assert all(sum(one.holds(other) for one in outer) == 1 for other in inner)
        assert not [pair for pair in combinations(inner, 2) if pair[0].overlaps(pair[1])]
    reach = Drawing(ports(network, Marks(), "n"))
    assert not [pair for pair in combinations(reach.of("card"), 2) if pair[0].overlaps(pair[1])]
    assert len(reach.classes("way")) == len(network.admissions)
    for drawing in (drawn, reach):
        assert all(box.x >= 0 and box.x + box.width <= drawing.width for box in drawing.boxes)
        assert all(box.y >= 0 and box.y + box.height <= drawing.height for box in drawing.boxes)


def test_a_crowded_network_can_be_read(template):
    network = many_groups(template)
    assert len(network.vpcs[0].zones) == 5
    assert network.vpcs[0].zones[1].label == "zone 1 of the region"
    assert_readable(network)


def test_the_example_clusters_can_be_read(example):
    assert_readable(example)
    described = Drawing(plan(example, Marks(), "n")).described
    assert "nodes workers" in described
    assert "file system FileSystem" in described


def test_the_example_clusters_admit_only_whom_they_must(example):
    assert {one.breadth for one in example.admissions if one.is_certain} == {"self", "group"}
    (nodes,) = [group for group in example.groups if "workers" in group.members]
    assert nodes.label == "NodeSecurityGroup"
    if any(member.kind == "control plane" for member in example.members):
        assert admitted(example)["ControlPlaneSecurityGroup", nodes.label] == (
            "tcp 53, 443, 9443, 10250; udp 53",
            "group",
        )
