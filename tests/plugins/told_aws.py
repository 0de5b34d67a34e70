"""An AWS that says what a test tells it, in the place of HTTP: by operation, valid by botocore's models.

It does what botocore's Stubber does, for clients that several threads use in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, ClassVar

from botocore.exceptions import ParamValidationError
from botocore.validate import validate_parameters

from hyperpod_lifecycle.operations.aws import Aws

ACCOUNT = "111122223333"
REGION = "us-west-2"


@dataclass(frozen=True)
class Refusal:
    """An error in the place of an answer."""

    code: str
    message: str = "it said no"
    status: int = 400
    headers: Mapping[str, str] = field(default_factory=dict)


Answer = Mapping[str, Any] | Refusal | Callable[[Mapping[str, Any]], Any]


class ToldAws(Aws):
    """Clients that answer what they are told, and remember what they were asked.

    The clients are those of the whole process, since making one takes longer than all that it is asked here;
    they speak for whoever was made last.
    """

    _shared: ClassVar[dict[tuple[str, str], Any]] = {}
    _last: ClassVar[ToldAws]

    def __init__(self, answers: Mapping[tuple[str, str], Answer], *, region: str = REGION) -> None:
        super().__init__(region=region)
        self.answers = dict(answers)
        self.asked: list[tuple[str, str, Mapping[str, Any]]] = []
        ToldAws._last = self

    def client(self, service: str) -> Any:
        key = (service, self.region)
        if key not in ToldAws._shared:
            client = super().client(service)
            client.meta.events.register_first("before-parameter-build", _remember)
            client.meta.events.register_first("before-call", lambda **told: ToldAws._last.answer(**told))
            ToldAws._shared[key] = client
        return ToldAws._shared[key]

    def answer(self, model: Any, context: Mapping[str, Any], **_: Any) -> tuple[Any, Any]:
        """What an operation answers: HTTP's part, and the parsed one."""
        service, operation = model.service_model.service_name, model.name
        self.asked.append((service, operation, context["told"]))
        answer = self.answers.get((service, operation), Refusal("NobodyTold", f"what {operation} answers"))
        if callable(answer):
            answer = answer(context["told"])
        if isinstance(answer, Refusal):
            metadata = {"HTTPStatusCode": answer.status, "HTTPHeaders": dict(answer.headers)}
            error = {"Code": answer.code, "Message": answer.message}
            return SimpleNamespace(status_code=answer.status), {"Error": error, "ResponseMetadata": metadata}
        try:
            validate_parameters(answer, model.output_shape)
        except ParamValidationError as error:
            raise AssertionError(f"AWS could not answer so to {operation}: {error}") from error
        return SimpleNamespace(status_code=200), {**answer, "ResponseMetadata": {"HTTPStatusCode": 200}}


def _remember(params: Mapping[str, Any], context: dict[str, Any], **_: Any) -> None:
    context["told"] = dict(params)


def denied(action: str) -> Refusal:
    """What IAM answers where an action is not permitted."""
    user = f"arn:aws:sts::{ACCOUNT}:assumed-role/reader/somebody"
    message = f"User: {user} is not authorized to perform: {action} on resource: *"
    return Refusal("AccessDeniedException", message, 403)
