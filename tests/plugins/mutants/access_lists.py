"""Weakenings of network access lists."""

from __future__ import annotations

from collections.abc import Iterator

from mutants.mutant import Mutant, Template, mutant


def access_list_mutants(template: Template, name: str) -> Iterator[Mutant]:
    """Every widening of an entry that removal and the other values of its properties do not make."""
    resource = template["Resources"][name]
    if resource["Type"] != "AWS::EC2::NetworkAclEntry":
        return
    entry = resource["Properties"]

    def becomes(member: str, value: object) -> Mutant:
        return mutant(template, name, (member,), f"becomes {value}", value)

    yield becomes("RuleAction", "allow" if entry["RuleAction"] == "deny" else "deny")
    for number in (1, 2000):
        yield becomes("RuleNumber", number)
    if "CidrBlock" in entry:
        yield becomes("CidrBlock", "10.0.0.0/8")
        yield becomes("CidrBlock", "0.0.0.0/1")
    else:
        yield becomes("Ipv6CidrBlock", "fd00::/8")
    for protocol in (6, 17, 1):
        if protocol != entry["Protocol"]:
            yield becomes("Protocol", protocol)
    if "PortRange" in entry:
        first, last = entry["PortRange"]["From"], entry["PortRange"]["To"]
        for span in ((first + 1, last + 1), (first, last - 1)):
            yield becomes("PortRange", {"From": span[0], "To": span[1]})
