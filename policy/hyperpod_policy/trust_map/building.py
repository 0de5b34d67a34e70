"""Puts a trust map together: what leads to code first, then whoever gets there, and who gets to them."""

from __future__ import annotations

from hyperpod_policy.clusters import clusters
from hyperpod_policy.template import Template
from hyperpod_policy.trust_map.bucket_steps import add_foreign_scripts, add_guarded_buckets
from hyperpod_policy.trust_map.cluster_steps import add_clusters, add_jobs, add_stack, add_unknown_policies
from hyperpod_policy.trust_map.draft import Draft
from hyperpod_policy.trust_map.function_steps import add_function, functions_with
from hyperpod_policy.trust_map.key_steps import add_keys
from hyperpod_policy.trust_map.kubernetes_steps import add_kubernetes
from hyperpod_policy.trust_map.network_steps import add_ports
from hyperpod_policy.trust_map.role_steps import add_escalations, add_takers


def built(template: Template) -> Draft:
    """Return everything that templates say about who runs code on their nodes, in one world."""
    draft = Draft(template)
    if not clusters(template):
        return draft
    add_stack(draft)
    add_guarded_buckets(draft)
    add_foreign_scripts(draft)
    add_keys(draft)
    add_clusters(draft)
    add_ports(draft)
    add_kubernetes(draft)
    add_escalations(draft)
    add_unknown_policies(draft)
    done: set[str] = set()
    while True:
        acting = {step.source for step in draft.steps.values() if step.certainty != "no"}
        waiting = [
            actor for actor in draft.actors if actor.resource.key in acting and actor.resource.key not in done
        ]
        if not waiting:
            break
        for actor in waiting:
            done.add(actor.resource.key)
            add_takers(draft, actor)
            for function in functions_with(draft, actor.resource):
                add_function(draft, function, actor.resource)
    add_jobs(draft)
    return draft
