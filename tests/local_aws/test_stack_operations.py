from typing import Any

import pytest
from fake_account import FakeAccount, of_things, physical_id, reasons, statuses, thing

from aws_double.cloudformation.errors import AlreadyExists, Refused


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


def test_a_replacement_by_the_resource_itself_deletes_the_old_one(account: FakeAccount) -> None:
    stack = account.deploy("one", of_things(A=thing("a")))

    account.deploy("one", of_things(A=thing("a", becomes="new-id")))

    assert physical_id(stack, "A") == "new-id"
    assert account.calls == ["create A", "update A to None", "delete A"]


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
