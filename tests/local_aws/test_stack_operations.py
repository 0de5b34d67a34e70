from collections.abc import Iterator
from typing import Any

import pytest
from fake_account import FakeAccount, fake_types, of_things, thing

from aws_double.cloudformation.errors import AlreadyExists, Refused
from aws_double.cloudformation.stack import Stack


@pytest.fixture(autouse=True)
def _fake_types() -> Iterator[None]:
    with fake_types():
        yield


@pytest.fixture
def account() -> FakeAccount:
    return FakeAccount()


def statuses(stack: Stack, logical_id: str | None = None) -> list[str]:
    """Return what a resource, or the stack itself, went through, in order."""
    wanted = stack.name if logical_id is None else logical_id
    return [
        event["ResourceStatus"] for event in reversed(stack.events) if event["LogicalResourceId"] == wanted
    ]


def reasons(stack: Stack) -> list[str]:
    return [event["ResourceStatusReason"] for event in stack.events if "ResourceStatusReason" in event]


def physical_id(stack: Stack, logical_id: str) -> str:
    return stack.resources[logical_id].resource.physical_id


def test_creation(account: FakeAccount) -> None:
    template = of_things(A=thing("a", size=3), B=thing("b", text={"Fn::GetAtt": ["A", "Id"]})) | {
        "Outputs": {"Size": {"Value": {"Fn::GetAtt": ["A", "Size"]}, "Description": "How big"}}
    }

    stack = account.deploy("one", template)

    assert statuses(stack) == ["REVIEW_IN_PROGRESS", "CREATE_IN_PROGRESS", "CREATE_COMPLETE"]
    assert statuses(stack, "A") == ["CREATE_IN_PROGRESS", "CREATE_COMPLETE"]
    assert account.things[physical_id(stack, "B")]["Text"] == physical_id(stack, "A")
    assert stack.outputs["Size"].value == 3
    assert len({event["EventId"] for event in stack.events}) == len(stack.events)


def test_a_resource_whose_condition_does_not_hold_is_left_out(account: FakeAccount) -> None:
    template = of_things("A", B=thing("b", Condition="Never")) | {
        "Conditions": {"Never": {"Fn::Equals": ["a", "b"]}},
        "Outputs": {"B": {"Value": {"Ref": "B"}, "Condition": "Never"}},
    }

    stack = account.deploy("one", template)

    assert list(stack.resources) == ["A"]
    assert stack.outputs == {}


def test_update_in_place_keeps_the_resource(account: FakeAccount) -> None:
    stack = account.deploy("one", of_things("B", A=thing("a", size=1)))
    before, account.calls = physical_id(stack, "A"), []

    account.deploy("one", of_things("B", A=thing("a", size=2)))

    assert account.calls == ["update A to 2"]
    assert physical_id(stack, "A") == before
    assert statuses(stack)[-3:] == [
        "UPDATE_IN_PROGRESS",
        "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
        "UPDATE_COMPLETE",
    ]


def test_replacement_creates_tells_others_and_deletes(account: FakeAccount) -> None:
    user = thing("b", text={"Ref": "A"})
    account.deploy("one", of_things(A=thing("a"), B=user))
    account.calls = []

    account.deploy("one", of_things(A=thing("other"), B=user))

    assert account.calls == ["create A", "update B to None", "delete A"]
    assert account.names() == ["b", "other"]


def test_what_the_template_drops_is_deleted(account: FakeAccount) -> None:
    stack = account.deploy("one", of_things("A", "B"))

    account.deploy("one", of_things("A"))

    assert account.names() == list(stack.resources) == ["A"]


def test_a_failed_clean_up_leaves_the_resource_behind(account: FakeAccount) -> None:
    stack = account.deploy("one", of_things("A", "B"))
    account.refused = {"delete B"}

    account.deploy("one", of_things("A"))

    assert stack.status == "UPDATE_COMPLETE"
    assert statuses(stack, "B")[-1] == "DELETE_FAILED"
    assert account.names() == ["A", "B"]
    assert list(stack.resources) == ["A"]


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


def test_a_replacement_by_the_resource_itself_deletes_the_old_one(account: FakeAccount) -> None:
    stack = account.deploy("one", of_things(A=thing("a")))

    account.deploy("one", of_things(A=thing("a", becomes="new-id")))

    assert physical_id(stack, "A") == "new-id"
    assert account.calls == ["create A", "update A to None", "delete A"]


DELETION = [
    # policy, deleted with the stack, deleted when dropped, deleted when its creation is rolled back
    ("Delete", True, True),
    ("Retain", False, False),
    ("RetainExceptOnCreate", False, True),
]


@pytest.mark.parametrize(("policy", "deleted", "deleted_on_rollback"), DELETION)
def test_deletion_policies(
    account: FakeAccount, policy: str, deleted: bool, deleted_on_rollback: bool
) -> None:
    kept = thing("kept", DeletionPolicy=policy)

    stack = account.deploy("deleted", of_things(Kept=kept))
    account.delete(stack)
    assert stack.status == "DELETE_COMPLETE"
    assert statuses(stack, "Kept")[-1] == ("DELETE_COMPLETE" if deleted else "DELETE_SKIPPED")
    assert bool(account.things) != deleted

    account.things.clear()
    account.deploy("dropped", of_things("Other", Kept=kept))
    account.deploy("dropped", of_things("Other"))
    assert ("kept" in account.names()) != deleted

    account.things.clear()
    account.refused = {"create Other"}
    stack = account.deploy("failed", of_things(Kept=kept, Other=thing("other", DependsOn="Kept")))
    assert stack.status == "ROLLBACK_COMPLETE"
    assert (account.names() == ["kept"]) != deleted_on_rollback


def test_retain_except_on_create_of_a_request_counts_for_new_resources_only(account: FakeAccount) -> None:
    old, new = thing("old", DeletionPolicy="Retain"), thing("new", DeletionPolicy="Retain")
    stack = account.deploy("one", of_things(Old=old))
    account.refused = {"create Bad"}
    goal = of_things(Old=old, New=new, Bad=thing("bad", DependsOn="New"))
    account.deploy("one", goal, disable_rollback=True)

    account.stacks.roll_back(stack, session=account, retains_except_on_create=True)
    stack.wait(5)

    assert account.names() == ["old"]
    assert stack.resources["Old"].resource.deletion_policy == "Retain"


def test_update_replace_policy_is_not_deletion_policy(account: FakeAccount) -> None:
    account.deploy(
        "one", of_things(A=thing("a", UpdateReplacePolicy="Retain"), B=thing("b", DeletionPolicy="Retain"))
    )

    account.deploy(
        "one", of_things(A=thing("c", UpdateReplacePolicy="Retain"), B=thing("d", DeletionPolicy="Retain"))
    )

    assert account.names() == ["a", "c", "d"]


def test_a_policy_that_a_failed_update_changed_is_as_before(account: FakeAccount) -> None:
    stack = account.deploy("one", of_things("A"))
    account.refused = {"create B"}

    account.deploy("one", of_things("B", A=thing("A", DeletionPolicy="Retain")))

    assert stack.resources["A"].resource.deletion_policy == "Delete"


def test_a_snapshot_is_refused_in_words(account: FakeAccount) -> None:
    stack = account.deploy("one", of_things(A=thing("a", DeletionPolicy="Snapshot")))

    account.delete(stack)

    assert stack.status == "DELETE_FAILED"
    assert "DeletionPolicy Snapshot of Fake::Thing is not covered by this double" in reasons(stack)


def test_failed_deletion_spares_what_the_resource_needs_and_can_be_repeated(account: FakeAccount) -> None:
    stack = account.deploy("one", of_things("A", "C", B=thing("b", DependsOn="A")))
    account.refused = {"delete B"}

    account.delete(stack)
    assert stack.status == "DELETE_FAILED"
    assert stack.reason == "The following resource(s) failed to delete: [B]. "
    assert account.names() == ["A", "b"]
    account.refused = set()
    account.delete(stack)

    assert stack.status == "DELETE_COMPLETE"
    assert account.things == {}


def test_a_resource_can_be_left_alone_after_a_failed_deletion(account: FakeAccount) -> None:
    stack = account.deploy("one", of_things("A", "B"))
    with pytest.raises(Refused, match="RetainResources is for a stack that failed to delete"):
        account.delete(stack, retained=["A"])
    account.refused = {"delete A"}
    account.delete(stack)

    account.delete(stack, retained=["A"])

    assert stack.status == "DELETE_COMPLETE"
    assert account.names() == ["A"]


def test_a_protected_stack_is_not_deleted(account: FakeAccount) -> None:
    stack = account.deploy("one", of_things("A"))
    stack.termination_protection = True

    with pytest.raises(
        Refused, match=r"Stack \[one\] cannot be deleted while TerminationProtection is enabled"
    ):
        account.delete(stack)

    assert stack.status == "CREATE_COMPLETE"
    stack.termination_protection = False
    account.delete(stack)
    assert stack.status == "DELETE_COMPLETE"


def test_only_one_operation_at_a_time(account: FakeAccount) -> None:
    account.stacks.pace = 0.2
    account.deploy("one", of_things("A"))

    stack = account.deploy("one", of_things("A", "B"), waits=False)
    for attempt in (
        lambda: account.deploy("one", of_things("A")),
        lambda: account.delete(stack),
    ):
        with pytest.raises(Refused, match="UPDATE_IN_PROGRESS"):
            attempt()
    with pytest.raises(AlreadyExists, match=r"Stack \[one\] already exists"):
        account.stacks.add("one")
    stack.wait(5)

    assert stack.status == "UPDATE_COMPLETE"
    assert account.names() == ["A", "B"]


def test_a_stack_shows_what_it_is_about_to_be(account: FakeAccount) -> None:
    def shown() -> list[str]:
        assert stack.shown_goal is not None
        return list(stack.shown_goal.template.resources)

    account.stacks.pace = 0.2
    stack = account.deploy("one", of_things("A"), waits=False)
    stack.wait(0.1)
    assert (stack.status, shown()) == ("CREATE_IN_PROGRESS", ["A"])
    stack.wait(5)
    account.refused = {"create B"}
    account.deploy("one", of_things("A", "B"), waits=False)
    stack.wait(0.1)
    assert (stack.status, shown()) == ("UPDATE_IN_PROGRESS", ["A", "B"])
    stack.wait(5)

    assert (stack.status, shown()) == ("UPDATE_ROLLBACK_COMPLETE", ["A"])


def test_a_cancelled_update_rolls_back(account: FakeAccount) -> None:
    stack = account.deploy("one", of_things("A"))
    account.stacks.pace = 0.5

    account.deploy("one", of_things("A", "B"), waits=False)
    stack.cancelled.set()
    stack.wait(5)

    assert stack.status == "UPDATE_ROLLBACK_COMPLETE"
    assert account.names() == ["A"]


def test_a_stack_can_be_deleted_while_it_is_created(account: FakeAccount) -> None:
    account.stacks.pace = 0.2
    stack = account.deploy("one", of_things("A", "B", "C"), waits=False)

    account.delete(stack)
    while not stack.deleted:
        stack.wait(1)

    assert statuses(stack)[-3:] == ["ROLLBACK_COMPLETE", "DELETE_IN_PROGRESS", "DELETE_COMPLETE"]
    assert account.things == {}


def test_a_type_cannot_change(account: FakeAccount) -> None:
    stack = account.deploy("one", of_things("A"))

    with pytest.raises(Refused, match=r"modifies resource type of the following resources: \[A\]"):
        account.change_set(stack, of_things(A=thing("a", "Custom::Fake")))


REFUSED_AT_THE_RESOURCE = [
    (thing("a", colour="red"), "properties that this double does not apply: Colour"),
    (
        thing("a", text={"Fn::GetAtt": ["B", "Colour"]}),
        "resource B of type Fake::Thing has no attribute Colour",
    ),
    (thing("a", text={"Fn::Unheard": []}), "intrinsic function Fn::Unheard is not covered"),
    (thing("a", text={"Fn::ImportValue": "nothing"}), "No export named nothing found."),
]


@pytest.mark.parametrize(("resource", "reason"), REFUSED_AT_THE_RESOURCE)
@pytest.mark.parametrize("updates", [True, False])
def test_what_the_double_does_not_know_fails_the_resource(
    account: FakeAccount, resource: dict[str, Any], reason: str, updates: bool
) -> None:
    if updates:
        account.deploy("one", of_things("A", "B"))

    stack = account.deploy("one", of_things("B", A=resource))

    assert stack.status == ("UPDATE_ROLLBACK_COMPLETE" if updates else "ROLLBACK_COMPLETE")
    assert any(reason in one for one in reasons(stack))
    assert ("UPDATE_FAILED" if updates else "CREATE_FAILED") in statuses(stack, "A")


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
