"""Who may change who uses the keys of the buckets that lead to code."""

from __future__ import annotations

from hyperpod_model.catalog.control import KEY_CONTROL_ACTIONS
from hyperpod_policy.buckets import ENCRYPTION_KEY, guarded_buckets, key_of
from hyperpod_policy.iam.statements import Statement, statements_of
from hyperpod_policy.template import Resource
from hyperpod_policy.trust_map.arns import of_key
from hyperpod_policy.trust_map.asking import ask
from hyperpod_policy.trust_map.draft import Draft, conditions_of
from hyperpod_policy.trust_map.resource_policies import left_to_account, open_to_account, outsiders
from hyperpod_policy.trust_map.sayings import evidence_of, of_property, of_statement, say

EFFECT = "lets others read or lock out, and does not write by itself"


def add_keys(draft: Draft) -> None:
    """Add the keys of guarded buckets and who may change their policies or grants."""
    for guarded in guarded_buckets(draft.template):
        key = key_of(draft.template, guarded.bucket)
        if key is not None:
            _add(draft, key, f"key of the {guarded.role} bucket")
        elif guarded.bucket.get(*ENCRYPTION_KEY) is not None:
            named = say(guarded.bucket.get(*ENCRYPTION_KEY))
            draft.limits[f"key {named} of {guarded.words} is not in the templates, nor its policy"] = None


def _add(draft: Draft, key: Resource, role: str) -> None:
    target = draft.resource(key, role=role, effect=EFFECT)
    arns = of_key(draft.template, key)
    policy = [found for found in statements_of(key, "KeyPolicy") if isinstance(found, Statement)]
    if key.get("KeyPolicy") is None:
        left: dict[str, bool | None] = dict.fromkeys(KEY_CONTROL_ACTIONS, True)
        by = [of_property(key, (), "has no policy of its own: KMS leaves it to the account's policies")]
    else:
        left, statements = left_to_account(draft, policy, KEY_CONTROL_ACTIONS, arns, key)
        by = list(evidence_of(statements))
    naming = [
        statement
        for statement in policy
        if statement.effect == "Deny" or any(not draft.owns(value, key) for _, value in statement.principals)
    ]
    for actor in draft.actors:
        answer = ask(actor, KEY_CONTROL_ACTIONS, arns, policy=naming, delegation=left)
        draft.asked(actor, "change-key", target, answer)
    opened = open_to_account(policy, KEY_CONTROL_ACTIONS, arns)
    actions = [action for action in KEY_CONTROL_ACTIONS if left[action] and opened[action]]
    unclear = [
        action for action in KEY_CONTROL_ACTIONS if left[action] is not False and opened[action] is not False
    ]
    if unclear:
        draft.administrators(
            "change-key",
            target,
            actions=actions or unclear,
            certainty="yes" if actions else "undetermined",
            evidence=by,
        )
    for named in outsiders(draft, policy, KEY_CONTROL_ACTIONS, arns, key):
        draft.step(
            draft.outsider(named.kind, named.value),
            "change-key",
            target,
            "yes" if named.certain else "undetermined",
            actions=named.actions,
            evidence=[of_statement(named.statement)],
            note=conditions_of(named.statement),
        )
