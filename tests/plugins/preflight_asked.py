"""Asks one check of the preflight about a cluster in an account that a test tells."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from preflight_account import good_account
from told_aws import ACCOUNT, Answer, ToldAws

from hyperpod_lifecycle.operations.kubernetes_reads import KubernetesReads
from hyperpod_lifecycle.preflight.checks import CHECKS, Check, _run
from hyperpod_lifecycle.preflight.findings import Finding
from hyperpod_lifecycle.preflight.reads import Reads
from hyperpod_lifecycle.preflight.situation import Situation
from hyperpod_lifecycle.preflight.wanted import Wanted
from hyperpod_model.cluster_spec import ClusterSpec


def situation(
    spec: Mapping[str, Any],
    changes: Mapping[tuple[str, str], Answer] | None = None,
    kubernetes: KubernetesReads | None = None,
) -> Situation:
    """A cluster in the good account, with some answers changed."""
    aws = ToldAws({**good_account(), **({} if changes is None else changes)})
    wanted = Wanted(ClusterSpec.model_validate(spec), aws.region)
    return Situation(wanted, ACCOUNT, Reads(aws), kubernetes)


def asked(
    name: str,
    spec: Mapping[str, Any],
    changes: Mapping[tuple[str, str], Answer] | None = None,
    kubernetes: KubernetesReads | None = None,
) -> list[Finding]:
    """What one check finds."""
    (check,) = [check for check in CHECKS if check.about.check == name]
    return list(_run(Check(*check), situation(spec, changes, kubernetes)))


def only(findings: list[Finding], verdict: str, pattern: str = "") -> Finding:
    """The one finding that is not ok; its words."""
    found = [finding for finding in findings if finding.verdict != "ok"] or findings
    assert len(found) == 1, found
    assert found[0].verdict == verdict, found[0]
    assert re.search(pattern, found[0].text), found[0].text
    return found[0]


def all_ok(findings: list[Finding], *patterns: str) -> None:
    """Every finding is ok, and some say so in these words."""
    assert findings
    assert {finding.verdict for finding in findings} == {"ok"}, findings
    for pattern in patterns:
        assert any(re.search(pattern, finding.text) for finding in findings), (pattern, findings)
