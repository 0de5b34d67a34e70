"""Runs the handlers of custom resources outside AWS Lambda.

Stand-ins: the module ``cfnresponse``, which exists in AWS Lambda only, and the AWS service, which is
botocore's own
stub: requests and responses are checked against the real service model, nothing is sent.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import botocore.session
import pytest
from botocore.stub import Stubber


class Answer(NamedTuple):
    status: str
    physical_id: str
    reason: str | None


class Handler:
    def __init__(self, module: ModuleType, stubber: Stubber, answers: list[Answer]) -> None:
        self.module = module
        self.stubber = stubber
        self.answers = answers

    def __call__(self, event: dict[str, Any], context: Any = None) -> list[Answer]:
        self.module.handler(event, context)
        return self.answers


@pytest.fixture
def custom_resource_handler(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Handler]:
    """Makes a handler of its module's name and the service that it calls."""
    answers: list[Answer] = []

    def send(
        event: Any, context: Any, status: str, data: Any, physical_id: str, reason: str | None = None
    ) -> None:
        answers.append(Answer(status, physical_id, reason))

    cfnresponse = ModuleType("cfnresponse")
    vars(cfnresponse).update(SUCCESS="SUCCESS", FAILED="FAILED", send=send)
    monkeypatch.setitem(sys.modules, "cfnresponse", cfnresponse)

    def make(name: str, service: str) -> Handler:
        qualified = f"hyperpod_constructs.handlers.{name}"
        monkeypatch.delitem(sys.modules, qualified, raising=False)
        module = importlib.import_module(qualified)
        client = botocore.session.get_session().create_client(
            service, region_name="us-west-2", aws_access_key_id="stub", aws_secret_access_key="stub"
        )
        stubber = Stubber(client)
        stubber.activate()

        class Session:
            def create_client(self, wanted: str) -> Any:
                assert wanted == service
                return client

        monkeypatch.setattr(module.botocore.session, "get_session", Session)
        return Handler(module, stubber, answers)

    return make
