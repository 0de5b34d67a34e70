"""What topics of a cluster's stack keep is encrypted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_policy.clusters import clusters
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template
from hyperpod_policy.topics import TOPIC
from hyperpod_policy.values import Imported, Reference, Text, Unresolved

_KEY: Final = "KmsMasterKeyId"
_ALLOWED: Final = "a KMS key that the services which publish may use"
_NEVER_EMPTY: Final = (Reference, Imported, Text)


def check(template: Template) -> Iterator[Verdict]:
    """Judge each topic of a template with a cluster."""
    if not clusters(template):
        return
    for topic in template.of_type(TOPIC):
        key = topic.get(_KEY)
        if isinstance(key, Unresolved) and not isinstance(key, _NEVER_EMPTY):
            yield undetermined(topic, _KEY, found=f"is {key}, which may be empty", allowed=_ALLOWED)
        elif key is None or key == "":
            yield failed(topic, _KEY, found="is not set, so messages lie unencrypted", allowed=_ALLOWED)
        else:
            yield passed(topic, _KEY)


RULE = Rule(
    id="TopicEncryption",
    title="topics keep their messages encrypted",
    severity="warning",
    why=(
        "Messages about failing nodes, alarms and costs name the account, its clusters and what is wrong. "
        "SNS keeps a message until it is delivered, and for days where that fails."
    ),
    fix=(
        "set KmsMasterKeyId to a key of the stack whose policy lets the services that publish decrypt and "
        "generate data keys; with the key alias/aws/sns they cannot publish"
    ),
    source="SNS developer guide, sns-server-side-encryption and sns-key-management",
    check=check,
)
