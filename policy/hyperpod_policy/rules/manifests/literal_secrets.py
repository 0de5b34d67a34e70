"""Manifests hold no credentials."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.containers import Container
from hyperpod_policy.manifests.launching import commands_of
from hyperpod_policy.manifests.reading import is_deferred
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged

_SECRET = re.compile(
    r"(?:^|_)(?:SECRET(?:_ACCESS)?(?:_KEY)?|PASSWORD|PASSWD|API_KEY|ACCESS_KEY_ID|SESSION_TOKEN|TOKEN)$"
)
_OF_TEXT = re.compile(r"(?:^|_)(?:EOS|BOS|PAD|UNK|SEP|CLS|MASK|STOP|START|END|IMAGE|MAX|MIN|NUM)_TOKEN$")
"""Tokens that a model reads, and counts of them."""

_KEY = re.compile(
    r"\b(?:(?:AKIA|ASIA)[A-Z0-9]{16}|hf_[A-Za-z0-9]{30,}|gh[pousr]_[A-Za-z0-9]{36,}|"
    r"github_pat_\w{22,}|nvapi-[\w-]{40,})\b|://[^/\s:@$]+:[^/\s:@$]+@"
)
"""Keys that show what they are: of AWS, Hugging Face, GitHub and NVIDIA, and a password in an address."""

_ASSIGNED = re.compile(r"-{0,2}([A-Za-z][\w-]*)(?:=(.*))?", re.DOTALL)
_SWITCHED = frozenset({"true", "false", "none"})


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge environment and command of each container of a training job."""
    for job in training_jobs(manifests):
        for _, container in job.containers(init=True):
            path = (*container.path, "env")
            yield from judged(
                job.manifest,
                path,
                (
                    failed(
                        job.manifest,
                        *path,
                        position,
                        found=f"a value for {name}, which looks like a credential",
                        allowed="valueFrom.secretKeyRef, or a role in place of keys",
                    )
                    for position, name, value in container.variables()
                    if isinstance(value, str) and _is_credential(name, value)
                ),
            )
            yield from (
                failed(
                    job.manifest,
                    *at,
                    found=f"a value for {name}, which looks like a credential"
                    if name
                    else "text that looks like a credential",
                    allowed="a variable with valueFrom.secretKeyRef, or a role in place of keys",
                )
                for at, name in _in_commands(container)
            )


def _in_commands(container: Container) -> Iterator[tuple[FaultPath, str]]:
    for words in commands_of(container):
        for position, (path, word) in enumerate(words):
            found = _ASSIGNED.fullmatch(word)
            name, value = ("", word) if found is None else (found[1], found[2])
            if value is None:
                is_option = word.startswith("-") and position + 1 < len(words)
                value = words[position + 1][1] if is_option else word
                name = name if is_option else ""
            if _is_credential(name.replace("-", "_"), value):
                yield path, name


def _is_credential(name: str, value: str) -> bool:
    if _KEY.search(value):
        return True
    if not value or "$" in value or value.startswith(("/", "-")) or value.lower() in _SWITCHED:
        return False
    upper = name.upper()
    named = _SECRET.search(upper) is not None and _OF_TEXT.search(upper) is None
    return named and not is_deferred(value)


RULE = ManifestRule(
    id="LiteralSecrets",
    title="manifests hold no credentials",
    severity="error",
    why=(
        "Whoever reads the manifest, the job in the cluster or this repository has the key. Keys of AWS are "
        "not needed at all: pods get a role through their service account."
    ),
    fix="take the value from a Secret, or use Pod Identity or IRSA for AWS",
    source="Kubernetes docs, secrets good practices; AWS docs EKS Pod Identity",
    check=check,
)
