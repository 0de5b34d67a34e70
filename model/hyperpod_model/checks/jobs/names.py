"""What a job and its pods are called, and where they belong."""

from __future__ import annotations

from hyperpod_model.catalog.jobs import (
    AUTO_RESUME_NAMESPACE,
    AUTO_RESUME_NAMESPACE_PREFIX,
    JOB_NAME,
    LABEL_KEY,
    LABEL_VALUE,
    OBJECT_NAME,
    OPERATORS,
    POD_NAME_CHARACTERS,
    PRIORITY_LABEL,
    QUEUE_LABEL,
    TEAM,
    TEAM_NAMESPACE_PREFIX,
    auto_resumes_in,
    team_namespace,
    workload_priority,
)
from hyperpod_model.catalog.names import NameRule
from hyperpod_model.checks.jobs.defaults import MEMBER_LABEL_KEYS, Job, most_nodes, namespace_of
from hyperpod_model.checks.reading import absent, at, given, is_unknown, number, text
from hyperpod_model.checks.training_pods import check_training_pods
from hyperpod_model.faults import UNKNOWN, Fault


def check_names(job: Job) -> list[Fault]:
    """Check the names of a job, of its pods, and of what it belongs to.

    Args:
        job: The job.
    """
    return [
        *_check(job, "name", JOB_NAME),
        *_check_pod_names(job),
        *_check(job, "team", TEAM),
        *_check(job, "priority_class", TEAM),
        *_check(job, "pod_priority_class", OBJECT_NAME),
        *_check_pods_identity(job),
        *_check_team(job),
        *_check_governance_names(job),
        *_check_namespace(job),
        *_check_labels(job),
    ]


def _check(job: Job, field: str, rule: NameRule) -> list[Fault]:
    value = text(job, field)
    if value is None or rule.matches(value):
        return []
    return [Fault((field,), f"must be {rule.with_length}, got {value!r}")]


def _check_pod_names(job: Job) -> list[Fault]:
    name, operator, nodes = text(job, "name"), OPERATORS.get(at(job, "operator")), most_nodes(job)
    if name is None or operator is None or nodes is None or not JOB_NAME.matches(name):
        return []
    spares = number(job, "spares")
    last = operator.pod_name(name, max(1, nodes + (0 if spares is None else spares)) - 1)
    too_long = len(last) - POD_NAME_CHARACTERS
    if too_long <= 0:
        return []
    return [
        Fault(
            ("name",),
            f"is too long: its last pod would be {last!r} with {len(last)} characters, and "
            f"{POD_NAME_CHARACTERS} are allowed; shorten it by {too_long}",
        )
    ]


def _check_pods_identity(job: Job) -> list[Fault]:
    def said(field: str) -> object:
        return UNKNOWN if absent(job, field) else at(job, field)

    return check_training_pods(namespace=said("namespace"), service_account=said("service_account"))


def _check_team(job: Job) -> list[Fault]:
    if not absent(job, "team"):
        team, namespace = text(job, "team"), text(job, "namespace")
        if team is None or namespace is None or namespace == team_namespace(team):
            return []
        return [
            Fault(
                ("namespace",),
                f"must be {team_namespace(team)!r}, the namespace of team {team!r}, got {namespace!r}; "
                "leave it out",
            )
        ]
    faults = []
    if given(job, "priority_class"):
        faults.append(Fault(("priority_class",), "needs team: only a job that queues has a priority there"))
    namespace = text(job, "namespace")
    if namespace is not None and namespace.startswith(TEAM_NAMESPACE_PREFIX):
        team = namespace.removeprefix(TEAM_NAMESPACE_PREFIX)
        faults.append(
            Fault(
                ("team",),
                f"is required in namespace {namespace!r}, where task governance refuses pods without a "
                f"queue; give {team!r}",
            )
        )
    return faults


def _check_governance_names(job: Job) -> list[Fault]:
    faults = []
    team, priority = text(job, "team"), text(job, "priority_class")
    if team is not None and team.startswith(TEAM_NAMESPACE_PREFIX):
        faults.append(
            Fault(
                ("team",),
                f"is the team and not its namespace, so that the job goes to {team_namespace(team)!r}, got "
                f"{team!r}; give {team.removeprefix(TEAM_NAMESPACE_PREFIX)!r}",
                "warning",
            )
        )
    ending = workload_priority("")
    if priority is not None and priority.endswith(ending):
        faults.append(
            Fault(
                ("priority_class",),
                f"gets the ending {ending} by itself, so that the job asks for "
                f"{workload_priority(priority)!r}, got {priority!r}; give {priority.removesuffix(ending)!r}",
                "warning",
            )
        )
    return faults


def _check_namespace(job: Job) -> list[Fault]:
    if at(job, "operator") == "hyperpod" and absent(job, "namespace") and absent(job, "team"):
        return [Fault(("namespace",), "is required for operator 'hyperpod'; give it, or team")]
    if at(job, "operator") != "kubeflow" or not given(job, "auto_resume"):
        return []
    namespace = namespace_of(job)
    if namespace is None or auto_resumes_in(namespace):
        return []
    return [
        Fault(
            ("namespace",),
            f"must be {AUTO_RESUME_NAMESPACE!r} or begin with {AUTO_RESUME_NAMESPACE_PREFIX!r}, where "
            "HyperPod "
            f"resumes Kubeflow jobs, got {namespace!r}; rename it, or set auto_resume to null",
        )
    ]


def _check_labels(job: Job) -> list[Fault]:
    faults = check_label_map(job, "labels")
    labels = at(job, "labels")
    for key, field in ((QUEUE_LABEL, "team"), (PRIORITY_LABEL, "priority_class")):
        if not is_unknown(labels) and labels is not None and key in labels:
            faults.append(Fault(("labels", key), f"is set from {field}; leave it out"))
    for key in MEMBER_LABEL_KEYS:
        if not is_unknown(labels) and labels is not None and key in labels:
            message = "is set for the pods of every job, to tell them from all others; leave it out"
            faults.append(Fault(("labels", key), message))
    return faults


def check_label_map(job: Job, field: str) -> list[Fault]:
    """Check keys and values of labels.

    Args:
        job: The job.
        field: Field that holds them.
    """
    labels = at(job, field)
    if labels is None or is_unknown(labels):
        return []
    faults = []
    for key, value in labels.items():
        if not LABEL_KEY.matches(key):
            faults.append(Fault((field, key), f"must have as key {LABEL_KEY.in_words}, got {key!r}"))
        elif isinstance(value, str) and not LABEL_VALUE.matches(value):
            faults.append(Fault((field, key), f"must be {LABEL_VALUE.with_length}, got {value!r}"))
    return faults
