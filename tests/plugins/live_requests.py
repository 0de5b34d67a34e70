"""Who may do what with the checkpoints and the lifecycle scripts of a cluster, asked of S3 itself.

Whatever is allowed changes nothing that matters: it is done again, or taken back by the next request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from cluster_life import ClusterLife
from identities import ADMINISTRATOR, allow, document, trust
from policy_verdicts import PolicyVerdicts
from s3_callers import anonymous, lets

from aws_double import ACCOUNT
from aws_double.session import Session
from aws_double.transport import send_plainly
from hyperpod_model.catalog.iam import POD_IDENTITY_SERVICE

CHECKPOINTS: Final = "CheckpointBucket"
SCRIPTS: Final = "LifecycleScripts"
CONFIGURATION: Final = frozenset(
    f"{what} of {noun}s" for what in ("change policy", "set versions") for noun in ("checkpoint", "script")
)
"""Requests that would lift the locks."""
DEPLOYING_ROLE: Final = f"arn:aws:iam::{ACCOUNT}:role/cdk-hnb659fds-cfn-exec-role-{ACCOUNT}-us-west-2"
_PROBE: Final = {CHECKPOINTS: "run/step-1000/probe", SCRIPTS: "lifecycle-scripts/probe.sh"}
"""Key that is written and deleted, by bucket."""


@dataclass(frozen=True)
class Request:
    """Something to try.

    Attributes:
        action: Action of S3 that it needs.
        bucket: Beginning of the bucket's logical id.
        key: Key of the object; none if it is about the bucket.
        send: Sends it, given a client, the bucket's name and the policy that it has.
    """

    action: str
    bucket: str
    key: str | None
    send: Callable[[Any, str, str], Any]


@dataclass(frozen=True)
class Caller:
    """Somebody who tries.

    Attributes:
        role_arn: None for somebody without credentials.
        plain_http: Whether requests go without TLS.
    """

    role_arn: str | None
    plain_http: bool = False

    def client(self, session: Session) -> Any:
        """Return a client of S3 in the caller's name."""
        if self.role_arn is None:
            return anonymous(session)
        client = session.assume(self.role_arn).client("s3")
        if self.plain_http:
            send_plainly(client)
        return client


class LiveRequests:
    """The checkpoints and scripts of one cluster.

    Args:
        life: The cluster.
        writer: ARN of a role that writes checkpoints.
    """

    def __init__(self, life: ClusterLife, *, writer: str) -> None:
        self._session = life.root
        self._region = life.root.region
        self._buckets = {name: life.bucket(name) for name in (CHECKPOINTS, SCRIPTS)}
        self._policies = {
            name: json.dumps(life.bucket_policy(bucket)) for name, bucket in self._buckets.items()
        }
        kept = "run/step-500/kept"
        Caller(writer).client(self._session).put_object(
            Bucket=self._buckets[CHECKPOINTS], Key=kept, Body=b"1"
        )
        prefix = life.scripts_uri().partition("/lifecycle-scripts/")[2]
        self._requests = {
            **_requests("checkpoint", CHECKPOINTS, existing=kept),
            **_requests("script", SCRIPTS, existing=f"lifecycle-scripts/{prefix}/on_init_complete.sh"),
        }

    def allowed_live(self, callers: Mapping[str, Caller]) -> dict[str, set[str]]:
        """Try everything as everybody; return by caller what S3 let them do."""
        return {
            name: {
                what
                for what, request in self._requests.items()
                if lets(self._sender(caller.client(self._session), request))
            }
            for name, caller in callers.items()
        }

    def allowed_by_policies(self, callers: Mapping[str, Caller]) -> dict[str, set[str]]:
        """Return by caller what the policies, read back, let them do by the rule core's evaluator."""
        verdicts = PolicyVerdicts(self._session, account=ACCOUNT, region=self._region)
        return {
            name: {
                what
                for what, request in self._requests.items()
                if verdicts.lets(
                    caller.role_arn,
                    request.action,
                    self._buckets[request.bucket],
                    request.key,
                    plain_http=caller.plain_http,
                )
            }
            for name, caller in callers.items()
        }

    def _sender(self, client: Any, request: Request) -> Callable[[], Any]:
        return lambda: request.send(client, self._buckets[request.bucket], self._policies[request.bucket])


def _requests(noun: str, bucket: str, *, existing: str) -> dict[str, Request]:
    key = _PROBE[bucket]
    enabled = {"Status": "Enabled"}
    return {
        f"write {noun}": Request(
            "s3:PutObject", bucket, key, lambda s3, name, _: s3.put_object(Bucket=name, Key=key, Body=b"1")
        ),
        f"read {noun}": Request(
            "s3:GetObject", bucket, existing, lambda s3, name, _: s3.get_object(Bucket=name, Key=existing)
        ),
        f"delete {noun}": Request(
            "s3:DeleteObject", bucket, key, lambda s3, name, _: s3.delete_object(Bucket=name, Key=key)
        ),
        f"change policy of {noun}s": Request(
            "s3:PutBucketPolicy",
            bucket,
            None,
            lambda s3, name, policy: s3.put_bucket_policy(Bucket=name, Policy=policy),
        ),
        f"set versions of {noun}s": Request(
            "s3:PutBucketVersioning",
            bucket,
            None,
            lambda s3, name, _: s3.put_bucket_versioning(Bucket=name, VersioningConfiguration=enabled),
        ),
    }


def outsiders(session: Session) -> dict[str, str]:
    """Make roles that a cluster does not list, and which may do everything with S3; return their ARNs."""
    made = {
        "administrator outside the list": ("lambda.amazonaws.com", [ADMINISTRATOR], []),
        "another pod": (POD_IDENTITY_SERVICE, [], [allow("s3:*", "kms:*")]),
        "evaluation": ("lambda.amazonaws.com", [], []),
    }
    iam = session.client("iam")
    arns = {}
    for name, (service, attached, statements) in made.items():
        role_name = name.replace(" ", "-")
        role = iam.create_role(RoleName=role_name, AssumeRolePolicyDocument=json.dumps(trust(service)))[
            "Role"
        ]
        for arn in attached:
            iam.attach_role_policy(RoleName=role_name, PolicyArn=arn)
        if statements:
            iam.put_role_policy(
                RoleName=role_name, PolicyName="own", PolicyDocument=json.dumps(document(*statements))
            )
        arns[name] = role["Arn"]
    return arns
