from typing import Any

import pytest
from fake_account import FakeAccount, of_things, physical_id, reasons, statuses, thing

from aws_double.cloudformation.errors import Refused


def test_failed_creation_rolls_back(account: FakeAccount) -> None:
    account.refused = {"create A"}

    stack = account.deploy("one", of_things("A", "B"))

    assert statuses(stack) == [
        "REVIEW_IN_PROGRESS",
        "CREATE_IN_PROGRESS",
        "ROLLBACK_IN_PROGRESS",
        "ROLLBACK_COMPLETE",
    ]
    assert "The following resource(s) failed to create: [A]. " in reasons(stack)
    assert "refused to create A" in reasons(stack)
    assert account.things == {}
    # Half-made resources have a physical id and go, too.
    assert account.calls == ["create B", "create A", "delete A", "delete B"] or account.calls == [
        "create B",
        "create A",
        "delete B",
        "delete A",
    ]


def test_the_rollback_has_an_operation_id_of_its_own(account: FakeAccount) -> None:
    account.refused = {"create A"}

    stack = account.deploy("one", of_things("A"))

    by_operation: dict[str, set[str]] = {}
    for event in stack.events:
        by_operation.setdefault(event["OperationId"], set()).add(event["ResourceStatus"])
    assert {"CREATE_FAILED", "CREATE_IN_PROGRESS"} in by_operation.values()
    assert any("ROLLBACK_COMPLETE" in found for found in by_operation.values())


def test_a_stack_that_rolled_back_can_only_be_deleted_and_made_anew(account: FakeAccount) -> None:
    account.refused = {"create A"}
    stack = account.deploy("one", of_things("A"))
    account.refused = set()

    with pytest.raises(Refused, match="ROLLBACK_COMPLETE state and can not be updated"):
        account.deploy("one", of_things("A"))
    account.delete(stack)
    again = account.deploy("one", of_things("A"))

    assert (stack.status, again.status) == ("DELETE_COMPLETE", "CREATE_COMPLETE")
    assert again.id != stack.id
    assert account.stacks.find(stack.id) is stack
    assert account.stacks.find("one") is again


def test_failed_update_goes_back_to_what_was(account: FakeAccount) -> None:
    def template(size: int, name: str, *more: str) -> dict[str, Any]:
        return of_things(*more, A=thing("a", size=size), B=thing(name)) | {
            "Outputs": {"Size": {"Value": size}}
        }

    stack = account.deploy("one", template(1, "b"))
    things, resources = dict(account.things), {name: physical_id(stack, name) for name in "AB"}
    account.refused = {"create New"}
    wanted = template(2, "other", "New")
    wanted["Resources"]["New"]["DependsOn"] = ["A", "B"]

    account.deploy("one", wanted)

    assert statuses(stack)[-4:] == [
        "UPDATE_IN_PROGRESS",
        "UPDATE_ROLLBACK_IN_PROGRESS",
        "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
        "UPDATE_ROLLBACK_COMPLETE",
    ]
    assert {name: physical_id(stack, name) for name in stack.resources} == resources
    assert account.things == things
    assert stack.outputs["Size"].value == 1
    account.refused = set()
    account.deploy("one", wanted)
    assert stack.status == "UPDATE_COMPLETE"
    assert account.names() == ["New", "a", "other"]


def test_an_update_that_fails_is_itself_taken_back(account: FakeAccount) -> None:
    stack = account.deploy("one", of_things(A=thing("a", size=1)))
    account.refused = {"update A to 2"}

    account.deploy("one", of_things(A=thing("a", size=2)))

    assert account.calls[-2:] == ["update A to 2", "update A to 1"]
    assert stack.status == "UPDATE_ROLLBACK_COMPLETE"
    assert stack.resources["A"].resource.properties["Size"] == 1


def test_a_failed_rollback_can_be_continued(account: FakeAccount) -> None:
    stack = account.deploy("one", of_things(A=thing("a", size=1), B=thing("b", size=1)))
    account.refused = {"update A to 1", "update B to 2"}
    wanted = of_things(A=thing("a", size=2), B=thing("b", size=2, DependsOn="A"))

    account.deploy("one", wanted)
    assert stack.status == "UPDATE_ROLLBACK_FAILED"
    assert stack.reason == "The following resource(s) failed to update: [A]. "
    account.refused = set()
    account.stacks.roll_back(stack, session=account)
    stack.wait(5)

    assert stack.status == "UPDATE_ROLLBACK_COMPLETE"
    assert [one["Size"] for one in account.things.values()] == [1, 1]


def test_a_continued_rollback_can_skip_a_resource(account: FakeAccount) -> None:
    stack = account.deploy("one", of_things(A=thing("a", size=1), B=thing("b")))
    account.refused = {"update A to 1", "create C"}
    account.deploy("one", of_things(A=thing("a", size=2), B=thing("b"), C=thing("c", DependsOn="A")))

    account.stacks.roll_back(stack, session=account, skipped=["A"])
    stack.wait(5)

    assert stack.status == "UPDATE_ROLLBACK_COMPLETE"
    assert "Resource skipped during UpdateRollback" in reasons(stack)


def test_without_rollback_a_stack_stays_and_the_next_deployment_goes_on(account: FakeAccount) -> None:
    account.refused = {"create B"}
    template = of_things(A=thing("a"), B=thing("b", DependsOn="A"))

    stack = account.deploy("one", template, disable_rollback=True)
    assert stack.status == "CREATE_FAILED"
    assert account.names() == ["a"]
    account.refused = set()
    account.deploy("one", template)

    assert stack.status == "UPDATE_COMPLETE"
    assert account.calls == ["create A", "create B", "delete B", "create B"]


@pytest.mark.parametrize("created", [True, False])
def test_without_rollback_a_stack_can_be_rolled_back_later(account: FakeAccount, created: bool) -> None:
    if created:
        account.deploy("one", of_things(A=thing("a", size=1)))
    account.refused = {"create B"}
    wanted = of_things(A=thing("a", size=2), B=thing("b", DependsOn="A"))
    stack = account.deploy("one", wanted, disable_rollback=True)
    assert stack.status == ("UPDATE_FAILED" if created else "CREATE_FAILED")

    account.stacks.roll_back(stack, session=account)
    stack.wait(5)

    assert stack.status == ("UPDATE_ROLLBACK_COMPLETE" if created else "ROLLBACK_COMPLETE")
    assert [one.get("Size") for one in account.things.values()] == ([1] if created else [])


def test_a_failed_update_in_place_is_tried_again_though_the_template_is_the_same(
    account: FakeAccount,
) -> None:
    stack = account.deploy("one", of_things(A=thing("a", size=1)))
    wanted = of_things(A=thing("a", size=2))
    account.refused = {"update A to 2"}
    account.deploy("one", wanted, disable_rollback=True)
    account.refused = set()

    account.deploy("one", wanted)

    assert stack.status == "UPDATE_COMPLETE"
    assert account.calls[-2:] == ["update A to 2", "update A to 2"]


def test_a_policy_that_a_failed_update_changed_is_as_before(account: FakeAccount) -> None:
    stack = account.deploy("one", of_things("A"))
    account.refused = {"create B"}

    account.deploy("one", of_things("B", A=thing("A", DeletionPolicy="Retain")))

    assert stack.resources["A"].resource.deletion_policy == "Delete"


def test_a_cancelled_update_rolls_back(account: FakeAccount) -> None:
    stack = account.deploy("one", of_things("A"))
    account.stacks.pace = 0.5

    account.deploy("one", of_things("A", "B"), waits=False)
    stack.cancelled.set()
    stack.wait(5)

    assert stack.status == "UPDATE_ROLLBACK_COMPLETE"
    assert account.names() == ["A"]


def test_a_fault_of_a_type_fails_the_stack_and_stands_in_the_log(
    account: FakeAccount, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("Gone")

    monkeypatch.setattr("fake_account.FakeType.create", broken)

    stack = account.deploy("one", of_things("A"))

    assert stack.status == "ROLLBACK_COMPLETE"
    assert "KeyError: 'Gone'" in reasons(stack)
    assert "Traceback" in capsys.readouterr().err


def test_a_fault_of_the_engine_does_not_leave_a_stack_in_progress(
    account: FakeAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("here")

    monkeypatch.setattr("aws_double.cloudformation.operations.Operation.deploy", broken)

    stack = account.deploy("one", of_things("A"))

    assert stack.status == "CREATE_FAILED"
    assert stack.reason == "fault of the double: ZeroDivisionError: here"
