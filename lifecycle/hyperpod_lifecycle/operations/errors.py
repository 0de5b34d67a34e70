"""Why an operation on a live cluster is not possible, in one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Literal

Why = Literal[
    "throttled",
    "expired_credentials",
    "no_credentials",
    "denied",
    "wrong_region",
    "unreachable",
    "unknown_cluster",
    "unknown_node",
    "unsuitable",
    "conflict",
    "refused",
]

_THROTTLED: Final = {
    "RequestLimitExceeded",
    "Throttling",
    "ThrottlingException",
    "ThrottledException",
    "TooManyRequestsException",
    "SlowDown",
}
_TROUBLE: Final = {
    "InternalError",
    "InternalFailure",
    "InternalServerError",
    "InternalServerException",
    "ServiceUnavailable",
    "ServiceUnavailableException",
    "500",
    "502",
    "503",
    "504",
}
_EXPIRED: Final = {"ExpiredToken", "ExpiredTokenException", "RequestExpired"}
_INVALID: Final = {
    "IncompleteSignature",
    "InvalidAccessKeyId",
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "MissingAuthenticationToken",
    "MissingAuthenticationTokenException",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
}
_DENIED: Final = {"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "NotAuthorized"}
_ACTION: Final = re.compile(r"not authorized to perform: ([\w-]+:\w+)")
_RENEW: Final = "renew them, for example with 'aws sso login', and try again"


class OperationError(Exception):
    """An operation that is not possible, in one line.

    Attributes:
        why: What kind of trouble it is.
    """

    def __init__(self, why: Why, message: str) -> None:
        self.why: Why = why
        super().__init__(" ".join(message.split()))


@contextmanager
def in_words(*, region: str | None = None, action: str | None = None) -> Iterator[None]:
    """Turn what boto3 raises into one line.

    Args:
        region: Region that is spoken to. Default: not known yet.
        action: What is asked, such as ``sagemaker:ListClusterNodes``. Default: nothing of AWS.

    Raises:
        OperationError: In the place of an error of boto3.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        raise _refused(error, region=region, action=action) from error
    except BotoCoreError as error:
        raise _not_sent(error, region=region) from error


def code_of(error: BaseException | None) -> str:
    """Return the error code of AWS behind an error; empty if there is none."""
    answer: Any = getattr(error, "response", {})
    return str(answer.get("Error", {}).get("Code", ""))


def _refused(error: Any, *, region: str | None, action: str | None) -> OperationError:
    code = code_of(error)
    message = str(error.response.get("Error", {}).get("Message", ""))
    what = f"{action} in {region}"
    if code in _THROTTLED:
        tries = error.response.get("ResponseMetadata", {}).get("RetryAttempts", 0) + 1
        return OperationError(
            "throttled",
            f"AWS throttles {what}, also at attempt {tries}; wait a minute and try again",
        )
    if code in _TROUBLE:
        said = f": {message}" if message else ""
        return OperationError(
            "unreachable", f"AWS itself has trouble with {what} ({code}); wait a minute and try again{said}"
        )
    if code in _EXPIRED:
        return OperationError("expired_credentials", f"the AWS credentials have expired; {_RENEW}")
    if code in _INVALID:
        return OperationError(
            "no_credentials",
            f"AWS does not accept the credentials ({code}); see which are used with "
            "'aws sts get-caller-identity', or choose others with --profile",
        )
    if code in _DENIED:
        found = _ACTION.search(message)
        refused = action if found is None else found[1]
        return OperationError(
            "denied", f"the AWS credentials do not permit {refused}; ask for that action: {message}"
        )
    if code == "ConflictException":
        return OperationError("conflict", f"AWS refuses {what}, since something else is under way: {message}")
    return OperationError("refused", f"AWS refuses {what}: {code}: {message}")


def _not_sent(error: Any, *, region: str | None) -> OperationError:
    from botocore import exceptions

    expired = tuple(
        getattr(exceptions, name)
        for name in ("UnauthorizedSSOTokenError", "SSOTokenLoadError", "TokenRetrievalError")
        if hasattr(exceptions, name)
    )
    if isinstance(error, expired):
        return OperationError("expired_credentials", f"the AWS sign-on has expired; {_RENEW}")
    if isinstance(error, exceptions.NoCredentialsError | exceptions.PartialCredentialsError):
        return OperationError(
            "no_credentials",
            "there are no AWS credentials; sign in, for example with 'aws sso login', or give --profile",
        )
    if isinstance(error, exceptions.CredentialRetrievalError):
        return OperationError("no_credentials", f"the AWS credentials cannot be had: {error}")
    if isinstance(error, exceptions.ProfileNotFound):
        return OperationError("no_credentials", f"{_lower(error)}; 'aws configure list-profiles' lists them")
    if isinstance(error, exceptions.NoRegionError):
        return OperationError(
            "wrong_region", "no region is given; say --region, set AWS_REGION, or name the cluster by its ARN"
        )
    if isinstance(error, exceptions.EndpointConnectionError | exceptions.InvalidRegionError):
        return OperationError(
            "wrong_region", f"there is no answer from AWS in region '{region}'; {_region_hint(region)}"
        )
    if isinstance(error, exceptions.HTTPClientError):
        return OperationError("unreachable", f"AWS in {region} cannot be reached: {error}")
    return OperationError("refused", f"AWS cannot be asked: {error}")


def _region_hint(region: str | None) -> str:
    from hyperpod_model.catalog.fact import UnknownNameError
    from hyperpod_model.catalog.regions import region as known_region

    if region is None:
        return "say --region"
    try:
        known_region(region)
    except UnknownNameError as error:
        return f"{error}; say another --region"
    return "check the network, a proxy, and the VPC's endpoints"


def _lower(error: BaseException) -> str:
    text = str(error)
    return text[:1].lower() + text[1:]
