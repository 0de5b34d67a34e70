"""Compares every resource of a deployed stack with what its template asks for."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import read_back
from deployed_stack import DeployedStack
from handler_effects import EFFECTS
from read_back import READERS

for _module in pkgutil.iter_modules(read_back.__path__, f"{read_back.__name__}."):
    importlib.import_module(_module.name)

NOT_READ: Final[Mapping[str, str]] = {
    "Custom::AWSCDKCfnJson": "gives JSON back to the template: the trust that is made of it is read back",
    "Custom::AWSCDK-EKS-HelmChart": "a release in Kubernetes, which no AWS API tells of; without the chart "
    "the double refuses the HyperPod cluster",
    "Custom::AWSCDK-EKS-KubernetesResource": "objects in Kubernetes, which no AWS API tells of",
    "Custom::FinalBackup": "does nothing before the stack is deleted; the backup is found then",
}
"""Types that are not compared, and why."""

NOT_TOLD: Final[Mapping[tuple[str, str], str]] = {
    ("AWS::EKS::Addon", "ResolveConflicts"): "how the creation treats conflicts, which EKS does not keep",
    (
        "AWS::Lambda::Function",
        "Code.ZipFile",
    ): "packed by CloudFormation: Lambda tells the digest of an "
    "archive that nobody else has. The handler runs, and its effects are read",
}
"""Properties, or members of them, that the service does not tell, and why."""


@dataclass(frozen=True)
class Compared:
    """What a comparison found.

    Attributes:
        read: Logical ids of the resources that were read back, or whose effect was.
        differences: One for each property that is told otherwise than asked for, in words.
        excused: Types and properties that were left out, as in ``NOT_READ`` and ``NOT_TOLD``.
        unneeded: Properties that were to be left out and are told after all.
    """

    read: frozenset[str]
    differences: tuple[str, ...]
    excused: frozenset[str | tuple[str, str]]
    unneeded: frozenset[tuple[str, str]]


def compare(stack: DeployedStack) -> Compared:
    """Read every resource of a stack back.

    Raises:
        KeyError: For a type that nothing reads and nobody excused.
    """
    resources = stack.resources
    read, differences = set(), []
    excused: set[str | tuple[str, str]] = set()
    unneeded: set[tuple[str, str]] = set()
    for logical_id, wanted in stack.properties().items():
        kind, physical_id = resources[logical_id]["ResourceType"], resources[logical_id]["PhysicalResourceId"]
        if kind in NOT_READ:
            excused.add(kind)
            continue
        read.add(logical_id)
        if kind in EFFECTS:
            differences += [f"{logical_id} ({kind}): {one}" for one in EFFECTS[kind](stack.clients, wanted)]
            continue
        told = READERS[kind](stack.clients, physical_id, wanted)
        for name, value in wanted.items():
            excuse = _excuse(kind, name, value)
            if excuse is not None:
                excused.add(excuse)
                if told.get(name) == value:
                    unneeded.add(excuse)
            elif told.get(name) != value:
                differences.append(
                    f"{logical_id} ({kind}) {name}: {_short(value)} is told as {_short(told.get(name))}"
                )
    return Compared(frozenset(read), tuple(differences), frozenset(excused), frozenset(unneeded))


def _excuse(kind: str, name: str, value: Any) -> tuple[str, str] | None:
    """Return the entry of ``NOT_TOLD`` for a property or one of its members."""
    members = value if isinstance(value, dict) else {}
    names = [name, *(f"{name}.{member}" for member in members)]
    return next(((kind, one) for one in names if (kind, one) in NOT_TOLD), None)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 600 else f"{text[:600]}..."
