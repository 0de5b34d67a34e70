"""What leads to the nodes themselves: the cluster's API, sessions, jobs, and the deployment of it all."""

from __future__ import annotations

from hyperpod_model.catalog.control import CLUSTER_CONTROL_ACTIONS, NODE_SESSION_ACTIONS
from hyperpod_policy.clusters import clusters, distinct, execution_roles, orchestrator
from hyperpod_policy.identities import role_of
from hyperpod_policy.template import Resource
from hyperpod_policy.trust_map.arns import of_cluster
from hyperpod_policy.trust_map.asking import ask
from hyperpod_policy.trust_map.draft import STACK, TRAINING_NODES, Draft
from hyperpod_policy.trust_map.model import Node
from hyperpod_policy.trust_map.sayings import of_property, say


def add_clusters(draft: Draft) -> None:
    """Add the clusters and who changes them or opens sessions on their nodes."""
    for cluster in clusters(draft.template):
        target = draft.resource(cluster, role="cluster")
        draft.leads_to_code(target, "its API names the scripts that run as root, and opens shells")
        arns = of_cluster(draft.template, cluster)
        for actor in draft.actors:
            draft.asked(actor, "change-cluster", target, ask(actor, CLUSTER_CONTROL_ACTIONS, arns))
            draft.asked(actor, "open-session", target, ask(actor, NODE_SESSION_ACTIONS, arns))
        draft.administrators("change-cluster", target, actions=CLUSTER_CONTROL_ACTIONS)
        draft.administrators("open-session", target, actions=NODE_SESSION_ACTIONS)


def add_stack(draft: Draft) -> None:
    """Add the stacks under review: who deploys them changes everything on the map."""
    draft.node(Node(STACK, "stack", "the stacks under review"))
    draft.leads_to_code(STACK, "a deployment can change every resource, the locks too")
    draft.administrators(
        "deploy", STACK, actions=["cloudformation:UpdateStack", "cloudformation:ExecuteChangeSet"]
    )


def add_jobs(draft: Draft) -> None:
    """Add jobs and pods that act with the nodes' own role."""
    for used, _ in distinct(execution_roles(draft.template)):
        role = role_of(draft.template, used.value)
        if role is None:
            name = say(used.value)
            draft.limits[f"execution role {name} is not in the templates, nor who may take it"] = None
            target = draft.outsider("AWS", used.value)
            draft.node(Node(TRAINING_NODES, "nodes", "training nodes"))
            draft.step(
                target,
                "unknown",
                TRAINING_NODES,
                "undetermined",
                note="its policies are not in the templates; a locked bucket stays closed to it",
            )
        else:
            target = draft.resource(role, role="execution role")
        draft.step(
            _jobs(draft, used.cluster),
            "act-as",
            target,
            "yes",
            evidence=[of_property(used.cluster, used.path, f"is {say(used.value)}")],
        )


def add_unknown_policies(draft: Draft) -> None:
    """Add roles whose policies the templates do not show in full."""
    for actor in draft.actors:
        if not actor.unknown:
            continue
        names = ", ".join(dict.fromkeys(name for name, _, _ in actor.unknown))
        draft.node(Node(TRAINING_NODES, "nodes", "training nodes"))
        draft.step(
            draft.resource(actor.resource),
            "unknown",
            TRAINING_NODES,
            "undetermined",
            evidence=[of_property(holder, path, f"is {name}") for name, holder, path in actor.unknown],
            note=f"what {names} allows is not in the templates; a locked bucket stays closed to it",
        )


def _jobs(draft: Draft, cluster: Resource) -> str:
    if orchestrator(cluster) == "slurm":
        role, note = "jobs of cluster", "who may submit jobs is said in Slurm"
    else:
        role = "host-network pods of cluster"
        note = "who may create such pods is said in Kubernetes"
    note += ", not in the templates"
    return draft.node(
        Node(f"jobs {cluster.key}", "workload", cluster.logical_id, role=role, outside=True, note=note)
    )
