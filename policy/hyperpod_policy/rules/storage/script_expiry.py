"""Current lifecycle scripts never expire."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_policy.buckets import GuardedBucket, guarded_buckets
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template
from hyperpod_policy.values import Unresolved, elements, truth

_EXPIRING = ("ExpirationInDays", "ExpirationDate")
_UPLOAD = "Custom::CDKBucketDeployment"
_UNREADABLE = ("GLACIER", "DEEP_ARCHIVE")


def check(template: Template) -> Iterator[Verdict]:
    """Judge the lifecycle rules of each lifecycle-script bucket."""
    for guarded in guarded_buckets(template):
        if guarded.role != "lifecycle script":
            continue
        bucket = guarded.bucket
        rules, complete = elements(bucket.get("LifecycleConfiguration", "Rules"))
        verdicts: list[Verdict] = []
        if not complete or any(isinstance(rule, Unresolved) for rule in rules):
            verdicts.append(
                undetermined(
                    bucket,
                    "LifecycleConfiguration",
                    found="its rules are unresolved",
                    allowed="current scripts never expire",
                )
            )
        for position, rule in enumerate(rules):
            if not isinstance(rule, Mapping) or rule.get("Status") == "Disabled":
                continue
            path = ("LifecycleConfiguration", "Rules", position)
            for member in _EXPIRING:
                if member in rule:
                    found = f"{guarded.words} deletes current objects ({member} {rule[member]})"
                    answer = undetermined if isinstance(rule[member], Unresolved) else failed
                    verdicts.append(
                        answer(bucket, *path, member, found=found, allowed="current scripts never expire")
                    )
            for transition in elements(rule.get("Transitions", rule.get("Transition")))[0]:
                if isinstance(transition, Mapping) and transition.get("StorageClass") in _UNREADABLE:
                    found = f"{guarded.words} moves current objects to {transition['StorageClass']}"
                    verdicts.append(
                        failed(bucket, *path, found=found, allowed="current scripts stay readable at once")
                    )
        verdicts += _deleted_uploads(template, guarded)
        yield from verdicts if verdicts else [passed(bucket, "LifecycleConfiguration")]


def _deleted_uploads(template: Template, guarded: GuardedBucket) -> Iterator[Verdict]:
    """Judge uploads of the CDK: without `RetainOnDelete` a new one deletes the scripts of the one before."""
    for upload in template.of_type(_UPLOAD):
        target = template.resource(upload.get("DestinationBucketName"))
        if target is None or target.key != guarded.bucket.key:
            continue
        kept = upload.get("RetainOnDelete", default=True)
        if isinstance(kept, Unresolved):
            yield undetermined(upload, "RetainOnDelete", found=f"is {kept}", allowed="true")
        elif truth(kept) is not True:
            yield failed(
                upload,
                "RetainOnDelete",
                found=f"deletes what nodes fetch from {guarded.words} when the upload changes or goes",
                allowed="true: scripts stay until no node of an older cluster needs them",
                fix="leave retain_on_delete of the deployment at its default",
            )


RULE = Rule(
    id="ScriptExpiry",
    title="current lifecycle scripts never expire",
    severity="error",
    why=(
        "Nodes fetch the scripts again at every replacement and software update, months after the upload. "
        "Once they are gone or archived no node can be replaced."
    ),
    fix="expire noncurrent versions and incomplete uploads only (NoncurrentVersionExpiration)",
    source="SageMaker developer guide, HyperPod lifecycle scripts; S3 user guide, lifecycle configuration",
    check=check,
)
