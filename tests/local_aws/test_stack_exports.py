from typing import Any

import pytest
from fake_account import FakeAccount, of_things, thing

from aws_double.cloudformation.stack import Stack


def exporting(name: str = "shared", value: Any = None) -> dict[str, Any]:
    return of_things("A") | {
        "Outputs": {"Out": {"Value": {"Ref": "A"} if value is None else value, "Export": {"Name": name}}}
    }


IMPORTING = of_things(B=thing("b", text={"Fn::ImportValue": "shared"}))


def told(stack: Stack) -> str:
    return " ".join(event.get("ResourceStatusReason", "") for event in stack.events)


def test_a_value_goes_from_stack_to_stack(account: FakeAccount) -> None:
    first = account.deploy("first", exporting())

    second = account.deploy("second", IMPORTING)

    exported = first.resources["A"].resource.physical_id
    assert account.things[second.resources["B"].resource.physical_id]["Text"] == exported
    assert account.stacks.exports() == {"shared": exported}
    assert account.stacks.importers("shared") == ["second"]


def test_a_name_is_exported_once(account: FakeAccount) -> None:
    account.deploy("first", exporting())

    second = account.deploy("second", exporting())

    assert second.status == "ROLLBACK_COMPLETE"
    assert "Export with name shared is already exported" in told(second)


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (exporting("renamed"), "Export shared cannot be deleted as it is in use by second"),
        (exporting(value="other"), "Cannot update export shared as it is in use by second"),
    ],
)
def test_an_export_in_use_stays_as_it_is(account: FakeAccount, after: dict[str, Any], reason: str) -> None:
    first = account.deploy("first", exporting())
    account.deploy("second", IMPORTING)
    before = account.stacks.exports()

    account.deploy("first", after)

    assert first.status == "UPDATE_ROLLBACK_COMPLETE"
    assert reason in told(first)
    assert account.stacks.exports() == before


def test_an_export_nobody_uses_may_change(account: FakeAccount) -> None:
    first = account.deploy("first", exporting())

    account.deploy("first", exporting("renamed", "other"))

    assert first.status == "UPDATE_COMPLETE"
    assert account.stacks.exports() == {"renamed": "other"}


def test_a_stack_goes_after_those_that_import_from_it(account: FakeAccount) -> None:
    first, second = account.deploy("first", exporting()), account.deploy("second", IMPORTING)

    account.delete(first)
    assert first.status == "DELETE_FAILED"
    assert first.reason == "Export shared cannot be deleted as it is in use by second"
    assert account.names() == ["A", "b"]
    account.delete(second)
    account.delete(first)

    assert first.status == "DELETE_COMPLETE"
    assert account.stacks.exports() == {}


def test_an_import_that_was_dropped_no_longer_holds_the_export(account: FakeAccount) -> None:
    account.deploy("first", exporting())
    account.deploy("second", IMPORTING)

    account.deploy("second", of_things("B"))

    assert account.stacks.importers("shared") == []
