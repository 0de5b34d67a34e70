"""APIs of the double's own: what is refused before a handler sees it, and what a handler must not answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from aws_double.service_api import ApiError, Elsewhere, Request, ServiceApi, page

CREDENTIAL = "AWS4-HMAC-SHA256 Credential=AKIA1/20261101/eu-west-1/eks/aws4_request, SignedHeaders=host"


def http(
    method: str = "GET",
    path: str = "/clusters/one",
    *,
    query: str = "",
    body: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Any:
    """A request as moto's server has it."""
    return SimpleNamespace(
        method=method,
        raw_path=path,
        query_string=query.encode(),
        headers={"Authorization": CREDENTIAL} if headers is None else headers,
        get_data=lambda as_text: "" if body is None else json.dumps(body),
    )


def sent(api: ServiceApi, request: Any) -> tuple[int, dict[str, Any]]:
    status, headers, body = api.answer(request, "", {})
    assert headers["Content-Type"] == "application/json"
    return status, json.loads(body)


@pytest.fixture
def eks() -> ServiceApi:
    return ServiceApi("eks", invalid="InvalidParameterException")


def test_a_handler_gets_region_caller_and_all_members(eks: ServiceApi) -> None:
    seen: list[Request] = []

    @eks.operation("DescribeAccessEntry")
    def describe(request: Request) -> dict[str, Any]:
        seen.append(request)
        return {"accessEntry": {"type": "STANDARD"}}

    path = "/clusters/one/access-entries/arn%3Aaws%3Aiam%3A%3A111122223333%3Arole%2Fa%2Fb"
    assert sent(eks, http(path=path)) == (200, {"accessEntry": {"type": "STANDARD"}})
    (request,) = seen
    assert (request.region, request.access_key) == ("eu-west-1", "AKIA1")
    assert request.asked == {"clusterName": "one", "principalArn": "arn:aws:iam::111122223333:role/a/b"}


def test_members_come_from_path_query_and_body(eks: ServiceApi) -> None:
    seen: list[Mapping[str, Any]] = []

    @eks.operation("DeleteAddon")
    def delete(request: Request) -> dict[str, Any]:
        seen.append(request.asked)
        return {}

    @eks.operation("ListAddons")
    def list_addons(request: Request) -> dict[str, Any]:
        seen.append(request.asked)
        return {"addons": []}

    @eks.operation("UpdateClusterVersion")
    def update(request: Request) -> dict[str, Any]:
        seen.append(request.asked)
        return {}

    sent(eks, http("DELETE", "/clusters/one/addons/coredns", query="preserve=true"))
    sent(eks, http(path="/clusters/one/addons", query="maxResults=7"))
    sent(eks, http("POST", "/clusters/one/updates", body={"version": "1.34"}))
    assert seen == [
        {"clusterName": "one", "addonName": "coredns", "preserve": True},
        {"clusterName": "one", "maxResults": 7},
        {"name": "one", "version": "1.34"},
    ]


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (http(headers={}), "MissingAuthenticationTokenException"),
        (http(path="/nowhere/at/all"), "UnknownOperationException"),
        (http(path="/clusters"), "NotInThisDouble"),
        (http(body={"color": "blue"}), "InvalidParameterException"),
    ],
)
def test_what_is_no_request_never_reaches_a_handler(eks: ServiceApi, request_: Any, code: str) -> None:
    @eks.operation("DescribeCluster")
    def describe(request: Request) -> dict[str, Any]:
        raise AssertionError(request)

    status, said = sent(eks, request_)
    assert (status, said["__type"]) == (400, code)


def test_errors_have_the_status_and_members_of_the_model(eks: ServiceApi) -> None:
    @eks.operation("DescribeCluster")
    def describe(request: Request) -> dict[str, Any]:
        raise ApiError("ResourceNotFoundException", "no such cluster", clusterName="one")

    status, said = sent(eks, http())
    assert status == 404
    assert said == {"__type": "ResourceNotFoundException", "message": "no such cluster", "clusterName": "one"}


@pytest.mark.parametrize("answer", [{"color": "blue"}, {"cluster": {"status": "TIRED"}}])
def test_an_answer_that_the_model_does_not_have_is_a_fault_of_the_double(
    eks: ServiceApi, answer: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    @eks.operation("DescribeCluster")
    def describe(request: Request) -> dict[str, Any]:
        return answer

    status, said = sent(eks, http())
    assert (status, said["__type"]) == (500, "InternalFailure")
    assert "eks:DescribeCluster answers" in said["message"]
    assert "AssertionError" in capsys.readouterr().err


def test_the_fallback_answers_the_rest() -> None:
    sagemaker = ServiceApi("sagemaker", invalid="ValidationException", fallback=lambda *_: "from elsewhere")

    @sagemaker.operation("ListTags")
    def list_tags(request: Request) -> dict[str, Any]:
        raise Elsewhere

    for operation, body in (
        ("ListTags", {"ResourceArn": "arn:aws:sagemaker:eu-west-1:111122223333:model/one"}),
        ("ListModels", {}),
    ):
        headers = {"X-Amz-Target": f"SageMaker.{operation}", "Authorization": CREDENTIAL}
        assert sagemaker.answer(http("POST", "/", body=body, headers=headers), "", {}) == "from elsewhere"


def test_an_operation_has_to_be_one_of_the_service(eks: ServiceApi) -> None:
    with pytest.raises(ValueError, match="eks has no operation 'MakeTea'"):
        eks.operation("MakeTea")


def test_pages_go_to_the_end_and_a_made_up_token_is_refused() -> None:
    items = [{"n": number} for number in range(5)]
    seen: list[Any] = []
    asked: dict[str, Any] = {"Most": 2}
    while True:
        shown, more = page(items, asked, size=9, limit="Most", token="Next")
        seen += shown
        if not more:
            break
        asked |= more
    assert seen == items
    with pytest.raises(ApiError, match="'abc' is no token of this list"):
        page(items, {"Next": "abc"}, size=9, limit="Most", token="Next")
