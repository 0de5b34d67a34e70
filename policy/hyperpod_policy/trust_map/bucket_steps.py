"""Who writes the buckets that lead to code, and who may change who does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hyperpod_model.catalog.control import BUCKET_CONTROL_ACTIONS, BUCKET_ROOT_USER_ACTIONS
from hyperpod_model.catalog.iam import S3_OBJECT_WRITE_ACTIONS
from hyperpod_policy.buckets import (
    GuardedBucket,
    foreign_script_locations,
    guarded_buckets,
    policies_of,
    policy_statements,
)
from hyperpod_policy.iam.patterns import wildcard
from hyperpod_policy.iam.statements import Statement
from hyperpod_policy.template import Resource
from hyperpod_policy.trust_map.arns import Arns, bucket_in_uri, itself, objects_named, objects_of
from hyperpod_policy.trust_map.asking import ask
from hyperpod_policy.trust_map.draft import ROOT_USER, Draft, conditions_of, is_of_another_account
from hyperpod_policy.trust_map.model import Ability, Certainty, Evidence, Node
from hyperpod_policy.trust_map.resource_policies import (
    exemptions,
    is_refused,
    open_to_account,
    outsiders,
)
from hyperpod_policy.trust_map.sayings import evidence_of, of_property, of_statement, say
from hyperpod_policy.values import Expression, elements, truth

_EFFECTS = {
    "lifecycle script": "its scripts run as root on every new, replaced or updated node",
    "checkpoint": "jobs that resume unpickle what it holds, which runs it",
}
NOT_SHOWN = "the bucket's own policy is not in the templates"
_ENFORCED = "BucketOwnerEnforced"


def add_guarded_buckets(draft: Draft) -> None:
    """Add the lifecycle-script and checkpoint buckets, their writers and administrators."""
    for guarded in guarded_buckets(draft.template):
        add_bucket(draft, guarded.bucket, role=f"{guarded.role} bucket", effect=_EFFECTS[guarded.role])
        _add_file_systems(draft, guarded)


def add_foreign_scripts(draft: Draft) -> None:
    """Add the buckets of lifecycle scripts that the templates do not make."""
    for used in foreign_script_locations(draft.template):
        name = bucket_in_uri(used.value)
        shown = say(used.value) if name is None else say(name)
        target = add_outside_bucket(draft, shown, name, role="lifecycle script bucket")
        draft.leads_to_code(target, _EFFECTS["lifecycle script"])


def add_outside_bucket(draft: Draft, shown: str, name: Any, *, role: str) -> str:
    """Add a bucket that the templates do not make and who writes it, and return its id.

    Args:
        draft: The map.
        shown: How to call it.
        name: Its name, as resolved; ``None`` if only deployment can tell.
        role: What it is to the cluster.
    """
    source = f"bucket {shown}"
    if source in draft.nodes:
        return source
    draft.node(Node(source, "bucket", shown, role=role, outside=True, note=NOT_SHOWN))
    arns = objects_named(Expression("name", shown) if name is None else name)
    for actor in draft.actors:
        answer = ask(actor, S3_OBJECT_WRITE_ACTIONS, arns)
        draft.asked(actor, "write-objects", source, answer, note=NOT_SHOWN)
    draft.administrators("write-objects", source, actions=["s3:PutObject"], note=NOT_SHOWN)
    draft.limits[f"the policy of bucket {shown}, and whom it admits"] = None
    return source


def add_bucket(draft: Draft, bucket: Resource, *, role: str, effect: str = "") -> str:
    """Add a bucket of the templates, and return its id.

    Args:
        draft: The map.
        bucket: The bucket.
        role: What it is to the cluster.
        effect: How it leads to code. By default it does so through others.
    """
    target = draft.resource(bucket, role=role)
    if effect:
        draft.leads_to_code(target, effect)
    policy, complete = policy_statements(draft.template, bucket)
    objects, whole = objects_of(draft.template, bucket), itself(draft.template, bucket)
    _add_holders(draft, bucket, target, policy, complete, "write-objects", S3_OBJECT_WRITE_ACTIONS, objects)
    _add_holders(draft, bucket, target, policy, complete, "change-bucket", BUCKET_CONTROL_ACTIONS, whole)
    root = draft.node(
        Node(ROOT_USER, "root user", "root user of the account", outside=True, note="S3 always lets it")
    )
    draft.step(
        root,
        "change-bucket",
        target,
        "yes",
        actions=BUCKET_ROOT_USER_ACTIONS,
        note="whatever the policy denies: it is the way out of a lock-out",
    )
    _add_acl(draft, bucket, target)
    if not complete:
        draft.limits[f"the policy of {bucket.logical_id} has statements that are not in the templates"] = None
    return target


def _add_holders(
    draft: Draft,
    bucket: Resource,
    target: str,
    policy: Sequence[Statement],
    complete: bool,
    ability: Ability,
    actions: Sequence[str],
    arns: Arns,
) -> None:
    exempt = list(exemptions(policy, actions, arns))
    for actor in draft.actors:
        answer = ask(actor, actions, arns, policy=policy)
        listed = [statement for value, statement in exempt if value == actor.principal]
        answer.grants += listed
        draft.asked(actor, ability, target, answer)
        if listed and not answer:
            draft.step(
                draft.resource(actor.resource),
                ability,
                target,
                "undetermined",
                evidence=evidence_of(listed),
                note="the denial leaves it out, but no policy of it in the templates allows it",
            )
    _add_administrators(draft, bucket, target, policy, complete, ability, actions, arns)
    for value, statement in exempt:
        if draft.actor_of("AWS", value) is not None:
            continue
        left = tuple(action for action in actions if is_refused(policy, action, arns, value) is not True)
        if left or wildcard(value):
            who = draft.node(
                Node(
                    say(value),
                    "identity",
                    f"principals named {say(value)}" if wildcard(value) else say(value),
                    outside=True,
                    note="its policies are not in the templates",
                )
            )
            draft.step(
                who,
                ability,
                target,
                "undetermined",
                actions=left,
                evidence=[of_statement(statement)],
                note="the denial leaves it out; whether its own policies allow it is not in the templates",
            )
    public = _blocks_public_policies(bucket)
    for named in outsiders(draft, policy, actions, arns, bucket):
        everybody = named.value == "*"
        if everybody and public is not False:
            draft.administrators(
                ability,
                target,
                actions=named.actions,
                certainty="yes" if named.certain else "undetermined",
                evidence=[of_statement(named.statement)],
                note="everybody in the account, even without a policy: public access is blocked"
                + ("" if public else ", as far as the templates tell"),
            )
            if public:
                continue
        certainty: Certainty = (
            "yes" if named.certain and not (everybody and public is None) else "undetermined"
        )
        note = conditions_of(named.statement)
        if is_of_another_account(named.value, bucket):
            note = f"if its own account lets it; {note}" if note else "if its own account lets it"
        who = draft.outsider(named.kind, named.value)
        draft.step(
            who,
            ability,
            target,
            certainty,
            actions=named.actions,
            evidence=[of_statement(named.statement)],
            note=note,
        )


def _add_administrators(
    draft: Draft,
    bucket: Resource,
    target: str,
    policy: Sequence[Statement],
    complete: bool,
    ability: Ability,
    actions: Sequence[str],
    arns: Arns,
) -> None:
    answers = open_to_account(policy, actions, arns)
    allowed = [action for action, answer in answers.items() if answer]
    unclear = [action for action, answer in answers.items() if answer is None]
    if not allowed and not unclear:
        denials = [
            statement
            for statement in policy
            if statement.effect == "Deny"
            and any(open_to_account([statement], [action], arns)[action] is False for action in actions)
        ]
        draft.administrators(
            ability,
            target,
            actions=actions,
            certainty="no",
            evidence=evidence_of(denials),
            note="denied whatever identity policies say",
        )
        return
    policies = policies_of(draft.template, bucket)
    holder = policies[0] if policies else bucket
    denies_it = "no statement denies it" if policies else "it has no bucket policy that denies it"
    certain = bool(allowed) and complete
    draft.administrators(
        ability,
        target,
        actions=allowed or unclear,
        certainty="yes" if certain else "undetermined",
        evidence=[
            of_property(
                holder,
                ("PolicyDocument",) if policies else (),
                denies_it if allowed else "whether a statement denies it depends on unresolved values",
            )
        ],
    )


def _blocks_public_policies(bucket: Resource) -> bool | None:
    """Whether a policy that admits everybody admits the bucket's account alone.

    New buckets block public access unless a template says otherwise.
    """
    block = bucket.get("PublicAccessBlockConfiguration")
    if block is None:
        return True
    answers = [
        truth(bucket.get("PublicAccessBlockConfiguration", name, default=False))
        for name in ("RestrictPublicBuckets", "BlockPublicPolicy")
    ]
    return True if True in answers else (None if None in answers else False)


def _add_acl(draft: Draft, bucket: Resource, target: str) -> None:
    acl = bucket.get("AccessControl")
    if acl != "PublicReadWrite":
        return
    rules, _ = elements(bucket.get("OwnershipControls", "Rules"))
    owners = [rule.get("ObjectOwnership") for rule in rules if isinstance(rule, dict)]
    ignored = truth(bucket.get("PublicAccessBlockConfiguration", "IgnorePublicAcls", default=False))
    if not owners or _ENFORCED in owners or ignored is True:
        return
    policy, _ = policy_statements(draft.template, bucket)
    arns = objects_of(draft.template, bucket)
    if open_to_account(policy, ["s3:PutObject"], arns)["s3:PutObject"] is False:
        return
    evidence: list[Evidence] = [of_property(bucket, ("AccessControl",), "is PublicReadWrite")]
    draft.step(
        draft.outsider("*", "*"), "write-objects", target, "yes", actions=["s3:PutObject"], evidence=evidence
    )


def _add_file_systems(draft: Draft, guarded: GuardedBucket) -> None:
    """Add file systems that export what is written on them to a bucket."""
    for association in draft.template.of_type("AWS::FSx::DataRepositoryAssociation"):
        path: Any = association.get("DataRepositoryPath")
        if association.get("S3", "AutoExportPolicy") is None:
            continue
        if say(guarded.bucket.ref) not in say(path) and say(
            draft.template.spelled(guarded.bucket.ref)
        ) not in say(path):
            continue
        name = say(association.get("FileSystemId"))
        who = draft.node(
            Node(
                f"users of file system {name}",
                "workload",
                f"users of file system {name}",
                outside=True,
                note="who mounts it, is not in the templates",
            )
        )
        draft.step(
            who,
            "write-objects",
            draft.resource(guarded.bucket),
            "undetermined",
            evidence=[of_property(association, ("S3", "AutoExportPolicy"), f"exports {name} to {say(path)}")],
            note="through the role of FSx, if the bucket's policy admits that",
        )
