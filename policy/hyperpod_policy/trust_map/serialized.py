"""A trust map as JSON values."""

from __future__ import annotations

from typing import Any, Final

from hyperpod_policy.trust_map.model import CERTAINTIES, Evidence, Node, Step, TrustMap

SCHEMA_VERSION: Final = 1
"""Goes up when a member changes its meaning or goes away; new members may come at any time."""


def serialized(trust_map: TrustMap) -> dict[str, Any]:
    """Return a map as JSON values; steps have the numbers by which ways name them."""
    numbers = {step: number for number, step in enumerate(trust_map.steps)}
    return {
        "version": SCHEMA_VERSION,
        "counts": {
            certainty: sum(way.certainty == certainty for way in trust_map.ways) for certainty in CERTAINTIES
        },
        "nodes": [_node(node) for node in trust_map.nodes.values()],
        "steps": [_step(step) for step in trust_map.steps],
        "ways": [
            {
                "principal": way.principal,
                "target": way.target,
                "certainty": way.certainty,
                "steps": [numbers[step] for step in way.steps],
            }
            for way in trust_map.ways
        ],
        "limits": list(trust_map.limits),
    }


def _node(node: Node) -> dict[str, Any]:
    return {
        "id": node.id,
        "kind": node.kind,
        "label": node.label,
        "role": node.role,
        "principal": node.is_principal,
        "outside": node.outside,
        "effect": node.effect,
        "note": node.note,
        "resource": node.logical_id,
        "resource_type": node.resource_type,
        "file": node.file,
        "line": node.line,
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "source": step.source,
        "ability": step.ability,
        "target": step.target,
        "certainty": step.certainty,
        "actions": list(step.actions),
        "evidence": [_evidence(item) for item in step.evidence],
        "note": step.note,
        "when": step.when,
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    return {
        "resource": evidence.logical_id,
        "resource_type": evidence.resource_type,
        "path": list(evidence.path),
        "sid": evidence.sid,
        "text": evidence.text,
        "file": evidence.file,
        "line": evidence.line,
    }
