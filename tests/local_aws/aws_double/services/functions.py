"""AWS Lambda of the double: moto's, which looks at no role's permissions, and forgets settings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from moto.awslambda.exceptions import LambdaClientError
from moto.awslambda.models import LambdaBackend, LambdaFunction

from aws_double.patching import around, before
from aws_double.permissions.principals import principal_of_arn, role_of_arn
from aws_double.permissions.trust import service_may_assume
from aws_double.permissions.verdicts import general_keys, judge_other

_SERVICE = "lambda.amazonaws.com"
_INTERFACES = ("ec2:CreateNetworkInterface", "ec2:DescribeNetworkInterfaces", "ec2:DeleteNetworkInterface")


def install() -> None:
    """Patch moto."""
    before(LambdaBackend, "create_function", _check_new)
    around(LambdaFunction, "__init__", _keeping_logging)
    around(LambdaFunction, "update_configuration", _changing_logging)
    around(LambdaFunction, "update_function_code", _changing_architectures)
    around(LambdaFunction, "get_configuration", _telling_logging)


def _check_new(_backend: Any, asked: Mapping[str, Any]) -> None:
    spec = asked["spec"]
    arn = spec["Role"]
    role = role_of_arn(arn)
    if role is None or not service_may_assume(_SERVICE, json.loads(_text(role))):
        raise LambdaClientError(
            "InvalidParameterValueException",
            f"The role defined for the function cannot be assumed by Lambda: {arn}",
        )
    if (spec.get("VpcConfig") or {}).get("SubnetIds"):
        _check_interfaces(arn)


def _text(role: Any) -> str:
    document: str = role.assume_role_policy_document
    return document


def _check_interfaces(arn: str) -> None:
    for action in _INTERFACES:
        if not judge_other(principal_of_arn(arn), action, "*", general_keys()).allowed:
            raise LambdaClientError(
                "InvalidParameterValueException",
                "The provided execution role does not have permissions to call "
                f"{action.removeprefix('ec2:')} on EC2",
            )


def _keeping_logging(method: Callable[..., None]) -> Callable[..., None]:
    def init(self: Any, account_id: str, spec: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        method(self, account_id, spec, *args, **kwargs)
        self.logging_config = _logging(self, spec.get("LoggingConfig"))

    return init


def _changing_logging(method: Callable[..., Any]) -> Callable[..., Any]:
    def update_configuration(self: Any, config_updates: dict[str, Any]) -> Any:
        if "LoggingConfig" in config_updates:
            self.logging_config = _logging(self, config_updates["LoggingConfig"])
        return method(self, config_updates)

    return update_configuration


def _changing_architectures(method: Callable[..., Any]) -> Callable[..., Any]:
    def update_function_code(self: Any, updated_spec: dict[str, Any]) -> Any:
        if updated_spec.get("Architectures"):
            self.architectures = updated_spec["Architectures"]
        return method(self, updated_spec)

    return update_function_code


def _logging(function: Any, asked: Mapping[str, str] | None) -> dict[str, str]:
    default = {"LogFormat": "Text", "LogGroup": f"/aws/lambda/{function.function_name}"}
    return {**default, **({} if asked is None else asked)}


def _telling_logging(method: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    def get_configuration(self: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        return {**method(self, *args, **kwargs), "LoggingConfig": self.logging_config}

    return get_configuration
