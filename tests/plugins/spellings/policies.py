"""Policies and keys written in other ways."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

from spellings.walking import Template, documents_of, resources_of, statements_of


def actions_in_other_cases(template: Template) -> None:
    for statement in statements_of(template):
        actions = statement["Action"]
        listed = actions if isinstance(actions, list) else [actions]
        statement["Action"] = [action.upper().replace("S3:", "s3:", 1) for action in listed]


def everything_in_reverse(template: Template) -> None:
    for statement in statements_of(template):
        for member in ("Action", "Resource"):
            if isinstance(statement.get(member), list):
                statement[member].reverse()
    for document in documents_of(template["Resources"]):
        document["Statement"].reverse()
    template["Resources"] = dict(reversed(template["Resources"].items()))
    for resource in resources_of(template):
        if isinstance(resource.get("DependsOn"), list):
            resource["DependsOn"].reverse()


def statements_split_by_action(template: Template) -> None:
    for document in documents_of(template["Resources"]):
        document["Statement"] = [
            {
                **statement,
                "Action": action,
                **({"Sid": f"{statement['Sid']}{number}"} if "Sid" in statement else {}),
            }
            for statement in document["Statement"]
            for number, action in enumerate(
                statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
            )
        ]


def statements_split_by_resource(template: Template) -> None:
    for document in documents_of(template["Resources"]):
        document["Statement"] = [
            {**statement, "Resource": resource} if "Resource" in statement else statement
            for statement in document["Statement"]
            for resource in (
                statement["Resource"]
                if isinstance(statement.get("Resource"), list)
                else [statement.get("Resource")]
            )
        ]


def locks_of_every_action(template: Template) -> None:
    """One denial of s3:* on objects for one of writes and one of reads, where both leave out the same."""
    for policy in resources_of(template, "AWS::S3::BucketPolicy"):
        statements = policy["Properties"]["PolicyDocument"]["Statement"]
        if len(statements) < 2:
            continue
        *_, writes, reads = statements
        if writes["Effect"] == reads["Effect"] == "Deny" and writes["Condition"] == reads["Condition"]:
            statements.remove(reads)
            writes["Action"] = "s3:*"


def arns_by_like(template: Template) -> None:
    _operators(template, {"ArnNotEquals": "ArnNotLike", "ArnEquals": "ArnLike"})


def arns_by_strings(template: Template) -> None:
    _operators(template, {"ArnNotEquals": "StringNotEquals", "ArnLike": "StringLike"})


def arns_by_string_patterns(template: Template) -> None:
    _operators(template, {"ArnNotEquals": "StringNotLike"})


def _operators(template: Template, names: Mapping[str, str]) -> None:
    for statement in statements_of(template):
        if "Condition" in statement:
            found: dict[str, Any] = {}
            for operator, pairs in statement["Condition"].items():
                found.setdefault(names.get(operator, operator), {}).update(pairs)
            statement["Condition"] = found


def condition_keys_in_other_cases(template: Template) -> None:
    for statement in statements_of(template):
        for pairs in statement.get("Condition", {}).values():
            for key in [
                key for key in pairs if key.startswith(("aws:Source", "aws:Principal", "aws:Secure"))
            ]:
                pairs[key.lower()] = pairs.pop(key)


def tls_by_a_boolean(template: Template) -> None:
    _tls(template, {"Bool": {"aws:SecureTransport": False}})


def tls_if_it_exists(template: Template) -> None:
    _tls(template, {"BoolIfExists": {"aws:SecureTransport": "false"}})


def _tls(template: Template, condition: dict[str, Any]) -> None:
    for statement in statements_of(template):
        if "aws:SecureTransport" in json.dumps(statement.get("Condition", {})):
            statement["Condition"] = copy.deepcopy(condition)


def everybody_as_a_mapping(template: Template) -> None:
    for statement in statements_of(template):
        if statement.get("Principal") == "*":
            statement["Principal"] = {"AWS": "*"}


def accounts_by_id(template: Template) -> None:
    """The account instead of its root, which IAM reads the same."""
    for key in resources_of(template, "AWS::KMS::Key"):
        statement = key["Properties"]["KeyPolicy"]["Statement"][0]
        statement["Principal"] = {"AWS": {"Ref": "AWS::AccountId"}}


def key_permissions_in_two(template: Template) -> None:
    for key in resources_of(template, "AWS::KMS::Key"):
        statements = key["Properties"]["KeyPolicy"]["Statement"]
        first = statements.pop(0)
        administration = [
            "kms:Create*",
            "kms:Describe*",
            "kms:Enable*",
            "kms:Put*",
            "kms:Update*",
            "kms:Get*",
        ]
        statements += [
            {**first, "Action": administration},
            {**first, "Action": ["kms:Decrypt", "kms:Encrypt"]},
        ]


def keys_through_aliases(template: Template) -> None:
    made = template["Resources"]
    for name in [name for name, one in made.items() if one["Type"] == "AWS::KMS::Key"]:
        made[f"{name}Alias"] = {
            "Type": "AWS::KMS::Alias",
            "Properties": {"AliasName": f"alias/{name}", "TargetKeyId": {"Ref": name}},
        }
    for bucket in resources_of(template, "AWS::S3::Bucket"):
        rules = bucket["Properties"]["BucketEncryption"]["ServerSideEncryptionConfiguration"]
        default = rules[0]["ServerSideEncryptionByDefault"]
        if "KMSMasterKeyID" in default:
            key = default["KMSMasterKeyID"]["Fn::GetAtt"][0]
            default["KMSMasterKeyID"] = {"Ref": f"{key}Alias"}


def managed_policies_inline(template: Template) -> None:
    """Managed policies as inline ones; what waits for one waits for its role."""
    made = template["Resources"]
    moved = {}
    for name in [name for name, one in made.items() if one["Type"] == "AWS::IAM::ManagedPolicy"]:
        properties = made.pop(name)["Properties"]
        (role,) = [entry["Ref"] for entry in properties["Roles"]]
        moved[name] = role
        policies = made[role]["Properties"].setdefault("Policies", [])
        policies.append({"PolicyName": name, "PolicyDocument": properties["PolicyDocument"]})
    for name, resource in made.items():
        if isinstance(resource.get("DependsOn"), list):
            waits = [moved.get(other, other) for other in resource["DependsOn"]]
            resource["DependsOn"] = [other for other in dict.fromkeys(waits) if other != name]
