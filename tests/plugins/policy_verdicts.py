"""What the rule core's evaluator makes of policies that were read back from live roles, buckets and keys."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from read_back import Clients

from hyperpod_policy.documents import Document
from hyperpod_policy.iam.context import ABSENT
from hyperpod_policy.iam.evaluation import Request, permitted
from hyperpod_policy.iam.statements import Statement, statements_of
from hyperpod_policy.template import Template

NOBODY = "nobody who is known"


class PolicyVerdicts:
    """The policies of an account, as its services tell them at the first question about each.

    Args:
        clients: Makes the clients.
        account: The account.
        region: Region of the buckets.
    """

    def __init__(self, clients: Clients, *, account: str, region: str) -> None:
        self._clients = clients
        self._account = account
        self._region = region
        self._of_roles: dict[str | None, list[Statement]] = {None: []}
        self._of_buckets: dict[str, list[Statement]] = {}
        self._keys: dict[str, tuple[str, list[Statement]]] = {}

    def lets(
        self,
        role_arn: str | None,
        action: str,
        bucket: str,
        key: str | None = None,
        *,
        plain_http: bool = False,
    ) -> bool:
        """Tell whether a role, or an anonymous caller, may do something with a bucket or an object.

        Reading or writing an object counts the use of its key.

        Args:
            role_arn: None for an anonymous caller.
            action: Such as ``s3:PutObject``.
            bucket: Name of the bucket.
            key: Key of the object; None for the bucket itself.
            plain_http: Whether the request comes without TLS.
        """
        arn = f"arn:aws:s3:::{bucket}"
        request = self._request(role_arn, action, arn if key is None else f"{arn}/{key}", plain_http)
        if not self._permitted(role_arn, self._bucket_policy(bucket), request):
            return False
        use = {"s3:PutObject": "kms:GenerateDataKey", "s3:GetObject": "kms:Decrypt"}.get(action)
        if use is None:
            return True
        through_s3 = {
            "kms:viaservice": f"s3.{self._region}.amazonaws.com",
            "kms:calleraccount": self._account,
            "kms:encryptioncontext:aws:s3:arn": arn,
        }
        key_arn, key_policy = self._key(bucket)
        return self._permitted(
            role_arn, key_policy, self._request(role_arn, use, key_arn, False, **through_s3)
        )

    def _request(
        self, role_arn: str | None, action: str, resource: str, plain_http: bool, **more: str
    ) -> Request:
        context = {
            "aws:securetransport": "false" if plain_http else "true",
            "aws:principalaccount": ABSENT if role_arn is None else self._account,
            "aws:principalisawsservice": "false",
            "aws:resourceaccount": self._account,
            "aws:principalarn": ABSENT if role_arn is None else role_arn,
            **more,
        }
        return Request(action, resource, NOBODY if role_arn is None else role_arn, context)

    def _permitted(self, role_arn: str | None, resource_policy: list[Statement], request: Request) -> bool:
        if role_arn not in self._of_roles:
            self._of_roles[role_arn] = self._statements(*self._identity_policies(str(role_arn)))
        verdict = permitted([*self._of_roles[role_arn], *resource_policy], request)
        # Whole policies and a whole request leave nothing open.
        assert verdict is not None, request
        return verdict

    def _bucket_policy(self, bucket: str) -> list[Statement]:
        if bucket not in self._of_buckets:
            found = self._clients.client("s3").get_bucket_policy(Bucket=bucket)["Policy"]
            self._of_buckets[bucket] = self._statements(json.loads(found))
        return self._of_buckets[bucket]

    def _key(self, bucket: str) -> tuple[str, list[Statement]]:
        if bucket not in self._keys:
            found = self._clients.client("s3").get_bucket_encryption(Bucket=bucket)
            (rule,) = found["ServerSideEncryptionConfiguration"]["Rules"]
            arn = rule["ApplyServerSideEncryptionByDefault"]["KMSMasterKeyID"]
            policy = self._clients.client("kms").get_key_policy(KeyId=arn, PolicyName="default")["Policy"]
            self._keys[bucket] = arn, self._statements(json.loads(policy))
        return self._keys[bucket]

    def _identity_policies(self, role_arn: str) -> Iterator[Mapping[str, Any]]:
        iam, name = self._clients.client("iam"), role_arn.rpartition("/")[2]
        for page in iam.get_paginator("list_role_policies").paginate(RoleName=name):
            for policy in page["PolicyNames"]:
                yield iam.get_role_policy(RoleName=name, PolicyName=policy)["PolicyDocument"]
        for page in iam.get_paginator("list_attached_role_policies").paginate(RoleName=name):
            for attached in page["AttachedPolicies"]:
                arn = attached["PolicyArn"]
                version = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
                yield iam.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]["Document"]

    def _statements(self, *documents: Mapping[str, Any]) -> list[Statement]:
        body = {
            "Resources": {
                f"Policy{number}": {
                    "Type": "AWS::IAM::ManagedPolicy",
                    "Properties": {"PolicyDocument": document},
                }
                for number, document in enumerate(documents)
            }
        }
        holders = Template([Document(body=body, account=self._account)]).of_type("AWS::IAM::ManagedPolicy")
        found = [one for holder in holders for one in statements_of(holder, "PolicyDocument")]
        statements = [one for one in found if isinstance(one, Statement)]
        assert len(statements) == len(found)
        return statements
