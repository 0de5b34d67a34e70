"""Statements that open what the others of a policy guard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mutants.principals import OWN_ROOT, ROOT_OF_ANOTHER


def added_statements(document: Any, properties: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Statements that open what the others guard."""
    if document == "AssumeRolePolicyDocument":
        for words, principal in (
            ("trust of another account", {"AWS": ROOT_OF_ANOTHER}),
            ("trust of everybody", {"AWS": "*"}),
            ("trust of its own account", {"AWS": OWN_ROOT}),
        ):
            yield words, {"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"}
        return
    if document == "KeyPolicy":
        for action in ("kms:*", "kms:Decrypt", "kms:CreateGrant", "kms:PutKeyPolicy", "kms:GenerateDataKey"):
            for words, principal in (("another account", ROOT_OF_ANOTHER), ("everybody", "*")):
                yield (
                    f"{action} for {words}",
                    {"Effect": "Allow", "Principal": {"AWS": principal}, "Action": action, "Resource": "*"},
                )
        return
    if "Bucket" in properties:
        bucket = {"Fn::Sub": f"arn:${{AWS::Partition}}:s3:::${{{properties['Bucket']['Ref']}}}"}
        objects = {"Fn::Sub": f"{bucket['Fn::Sub']}/*"}
        about: tuple[tuple[str, Any], ...] = (
            ("s3:*", [bucket, objects]),
            ("s3:GetObject", objects),
            ("s3:PutObject", objects),
            ("s3:ListBucket", bucket),
            ("s3:PutBucketPolicy", bucket),
        )
        whom: tuple[tuple[str, Any], ...] = (
            ("another account", {"AWS": ROOT_OF_ANOTHER}),
            ("everybody", "*"),
            ("a service", {"Service": "ec2.amazonaws.com"}),
        )
        for action, resource in about:
            for words, named in whom:
                yield (
                    f"{action} for {words}",
                    {"Effect": "Allow", "Principal": named, "Action": action, "Resource": resource},
                )
        return
    for words, action in (
        ("everything", "*"),
        ("the passing of roles", "iam:PassRole"),
        ("the taking of roles", "sts:AssumeRole"),
        ("all of S3", "s3:*"),
        ("all of KMS", "kms:*"),
        ("writes to every bucket", "s3:PutObject"),
        ("bucket policies", "s3:PutBucketPolicy"),
        ("key policies", "kms:PutKeyPolicy"),
        ("the change of roles", "iam:PutRolePolicy"),
        ("the change of functions", "lambda:UpdateFunctionCode"),
        ("the change of clusters", "sagemaker:UpdateCluster"),
        ("the change of security groups", "ec2:AuthorizeSecurityGroupIngress"),
        ("secrets", "secretsmanager:GetSecretValue"),
        ("sessions on instances", "ssm:StartSession"),
    ):
        yield words, {"Effect": "Allow", "Action": action, "Resource": "*"}
