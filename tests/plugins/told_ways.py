"""What a trust map says, in short lines that a test can list."""

from __future__ import annotations

import re

from hyperpod_policy.trust_map import Node, TrustMap, Way

_HASH = re.compile(r"(?<=[a-zA-Z])[0-9A-F]{8}$")
_UPLOAD = re.compile(r"^CustomCDKBucketDeployment[0-9A-F]{32}1024MiB")
_BOOTSTRAP = re.compile(r".*:role/cdk-hnb659fds-(.+?)-\$\{AWS::AccountId\}.*")


def name_of(node: Node) -> str:
    """How a test calls a node: its label without what CDK makes up."""
    label = _BOOTSTRAP.sub(r"\1", node.label)
    label = _UPLOAD.sub("Upload", _HASH.sub("", label))
    kind = {"workload": node.role, "network": node.role, "bucket": node.role if node.outside else ""}
    return f"{kind.get(node.kind, '')} {label}".strip()


def line_of(trust_map: TrustMap, way: Way) -> str:
    """A way, such as ``assume Role, write-objects Bucket``."""
    return ", ".join(f"{step.ability} {name_of(trust_map.nodes[step.target])}" for step in way.steps)


def lines_of(trust_map: TrustMap, principal: str) -> set[str]:
    """The ways of a principal, each after its certainty."""
    return {
        f"{way.certainty}: {line_of(trust_map, way)}"
        for way in trust_map.ways
        if name_of(trust_map.nodes[way.principal]) == principal
    }


def principals_of(trust_map: TrustMap) -> set[str]:
    """Everybody who has a way."""
    return {name_of(trust_map.nodes[way.principal]) for way in trust_map.ways}


def new_lines(before: TrustMap, after: TrustMap) -> set[str]:
    """What a map says that another did not, each line after its principal."""

    def all_lines(trust_map: TrustMap) -> set[str]:
        return {
            f"{principal} {line}"
            for principal in principals_of(trust_map)
            for line in lines_of(trust_map, principal)
        }

    return all_lines(after) - all_lines(before)
