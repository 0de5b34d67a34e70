"""Networks written in other ways."""

from __future__ import annotations

import copy

from spellings.walking import Template, resources_of


def rules_inline(template: Template) -> None:
    """Rules between a group and others in the groups themselves; those of a group with itself stay apart."""
    made = template["Resources"]
    moved = {}
    for direction, side in (("Ingress", "Source"), ("Egress", "Destination")):
        kind = f"AWS::EC2::SecurityGroup{direction}"
        for name in [name for name, one in made.items() if one["Type"] == kind]:
            rule = dict(made[name]["Properties"])
            group = rule.pop("GroupId")["Fn::GetAtt"][0]
            if rule.get(f"{side}SecurityGroupId") is None:
                made[group]["Properties"].setdefault(f"SecurityGroup{direction}", []).append(rule)
                moved[name] = group
                del made[name]
    for resource in resources_of(template):
        if isinstance(resource.get("DependsOn"), list):
            waits = [moved.get(other, other) for other in resource["DependsOn"]]
            resource["DependsOn"] = list(dict.fromkeys(waits))


def rules_apart(template: Template) -> None:
    """Inline egress as rules of their own, for which waits who waits for the group."""
    made = template["Resources"]
    for name in [name for name, one in made.items() if one["Type"] == "AWS::EC2::SecurityGroup"]:
        for number, rule in enumerate(made[name]["Properties"].pop("SecurityGroupEgress", [])):
            apart = f"{name}Out{number}"
            for resource in made.values():
                if name in resource.get("DependsOn", ()):
                    resource["DependsOn"].append(apart)
            made[apart] = {
                "Type": "AWS::EC2::SecurityGroupEgress",
                "Properties": {"GroupId": {"Ref": name}, **rule},
            }


def port_ranges_in_two(template: Template) -> None:
    """The denials of UDP 9209 to 9240 as two entries each."""
    made = template["Resources"]
    for name in [name for name, one in made.items() if one["Type"] == "AWS::EC2::NetworkAclEntry"]:
        entry = made[name]["Properties"]
        if entry.get("PortRange") == {"From": 9209, "To": 9240}:
            half = copy.deepcopy(made[name])
            entry["PortRange"] = {"From": 9209, "To": 9220}
            half["Properties"].update(
                PortRange={"From": 9221, "To": 9240}, RuleNumber=entry["RuleNumber"] + 100
            )
            made[f"{name}Rest"] = half


def protocols_by_number(template: Template) -> None:
    numbers = {"tcp": "6", "udp": "17"}
    kinds = ("AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress")
    for rule in resources_of(template, *kinds):
        protocol = rule["Properties"]["IpProtocol"]
        rule["Properties"]["IpProtocol"] = numbers.get(protocol, protocol)


def zones_by_name(template: Template) -> None:
    for subnet in resources_of(template, "AWS::EC2::Subnet"):
        zone = subnet["Properties"].pop("AvailabilityZoneId")
        subnet["Properties"]["AvailabilityZone"] = f"us-west-2{'abc'[int(zone[-1]) - 1]}"
