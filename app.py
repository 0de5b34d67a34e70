#!/usr/bin/env python3
"""The app that ``cdk synth|diff|deploy HyperPodStack`` runs: one cluster, with the checks that guard it.

Context, as ``-c name=value`` on the CDK CLI:

- ``cluster``: file of the cluster, a specification or a ``CreateCluster`` request. Default:
  ``examples/clusters/llm-train.yaml``.
- ``strict=true``: refuse ids in a request that are not legal, instead of making what they stand for.
- ``region``, ``availability_zone_id``: for a request, which names neither.
- ``baseline``: the template that is deployed now, from an earlier ``cdk.out`` or ``aws cloudformation
  get-template``. Changes that the service refuses, or that cost nodes, become findings.
- ``account``: account to bind the stack to. Default: that of the credentials at deployment.

A key that looks like one of these and is none is refused. Others, such as feature flags, are left alone.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

from hyperpod_constructs.bundled_node import prefer_bundled_node

# A synthesis is over in two seconds; collecting its garbage would take a tenth of them.
gc.disable()
prefer_bundled_node()

from aws_cdk import Annotations, App, Environment, Validations  # noqa: E402
from cdk_nag import AwsSolutionsChecks, NIST80053R5Checks  # noqa: E402

from hyperpod_constructs import HyperPodChecks, HyperPodStack  # noqa: E402
from hyperpod_constructs.acknowledgements import acknowledge_known_findings, acknowledge_upload_handler  # noqa: E402
from hyperpod_constructs.app_context import app_context, context_of_all_apps  # noqa: E402
from hyperpod_constructs.synthesis import synthesize  # noqa: E402
from hyperpod_model.cluster_spec import load_cluster  # noqa: E402

DEFAULT_CLUSTER = Path(__file__).parent / "examples" / "clusters" / "llm-train.yaml"

TOLD_IN_NOTES = (
    "hyperpod:BudgetGuard.costAllocationTag",
    "hyperpod:TieredCheckpointing.savesNothingByItself",
)
"""Infos of constructs on steps that are due, which the notes on the specification have named before."""


def build() -> App:
    """Make the app with its stack, the packs of checks and what is acknowledged."""
    # Traces lead through the CDK's JavaScript only, never to a line of Python.
    app = App(stack_traces=False)

    context = app_context(app.node.get_all_context(), of_all_apps=context_of_all_apps(Path.home()))
    cluster = load_cluster(
        DEFAULT_CLUSTER if context.cluster is None else context.cluster,
        strict="--strict" in sys.argv[1:] or context.strict,
        region=context.region,
        availability_zone_id=context.availability_zone_id,
    )
    for note in cluster.notes:
        print(f"note: {note}", file=sys.stderr)
    stack = HyperPodStack(
        app,
        "HyperPodStack",
        spec=cluster.spec,
        env=Environment(account=context.account, region=cluster.spec.region),
    )
    for info in TOLD_IN_NOTES:
        Annotations.of(stack).acknowledge_info(info, "a note says it")
    Validations.of(app).add_plugins(
        AwsSolutionsChecks(app),
        NIST80053R5Checks(app),
        HyperPodChecks(app, baseline=context.baseline),
    )
    acknowledge_known_findings(stack)
    acknowledge_upload_handler(stack)
    return app


if __name__ == "__main__":
    sys.exit(synthesize(build))
