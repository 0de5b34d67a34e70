"""What leads to the nodes themselves: the cluster's API, sessions, jobs, and the deployment of it all."""

from __future__ import annotations

from hyperpod_model.catalog.control import CLUSTER_CONTROL_ACTIONS, NODE_SESSION_ACTIONS, STACK_CHANGE_ACTIONS
from hyperpod_policy.clusters import clusters, distinct, execution_roles, groups, orchestrator
from hyperpod_policy.identities import role_of
from hyperpod_policy.template import Resource
from hyperpod_policy.trust_map.arns import of_cluster, of_stack
from hyperpod_policy.trust_map.asking import ask
from hyperpod_policy.trust_map.draft import STACK, TRAINING_NODES, Draft
from hyperpod_policy.trust_map.model import Node
from hyperpod_policy.trust_map.sayings import of_property, say
from hyperpod_policy.values import single


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
        _add_images(draft, cluster)


def _add_images(draft: Draft, cluster: Resource) -> None:
    """Add the images that instance groups boot, by whoever makes them."""
    for group in groups(cluster):
        image = single(group.properties.get("ImageId"))
        if image is None:
            continue
        name = say(image)
        maker = draft.node(
            Node(
                f"image {name}",
                "identity",
                name,
                role="whoever makes machine image",
                outside=True,
                note="what it holds, and whose it is, cannot be told from the templates",
            )
        )
        evidence = of_property(cluster, (*group.path, "ImageId"), f"is {name}")
        draft.leads_to_code(
            maker, "nodes boot it, and what it holds runs as root", "undetermined", [evidence]
        )


def add_stack(draft: Draft) -> None:
    """Add the stacks under review: who deploys them changes everything on the map."""
    draft.node(Node(STACK, "stack", "the stacks under review"))
    draft.leads_to_code(STACK, "a deployment can change every resource, the locks too")
    for holder in {id(cluster.document): cluster for cluster in clusters(draft.template)}.values():
        for actor in draft.actors:
            draft.asked(
                actor,
                "deploy",
                STACK,
                ask(actor, STACK_CHANGE_ACTIONS, of_stack(holder)),
                note="with the role that the stack was given, or else with its own permissions",
                at_most="undetermined",
            )
    draft.administrators("deploy", STACK, actions=STACK_CHANGE_ACTIONS)


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
