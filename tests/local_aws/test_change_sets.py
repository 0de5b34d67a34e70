import json
from typing import Any

import pytest
from fake_account import FakeAccount, of_things, thing

from aws_double.cloudformation.change_sets import KNOWN_AFTER_APPLY, ChangeSet
from aws_double.cloudformation.errors import AlreadyExists, ChangeSetNotFound, Refused


def changes(change_set: ChangeSet) -> dict[str, tuple[Any, ...]]:
    """Return action and replacement by logical id."""
    return {one["LogicalResourceId"]: (one["Action"], one.get("Replacement")) for one in change_set.changes}


def details(change_set: ChangeSet, logical_id: str) -> dict[str, dict[str, Any]]:
    (change,) = [one for one in change_set.changes if one["LogicalResourceId"] == logical_id]
    return {detail["Target"]["Name"]: detail for detail in change["Details"]}


def test_a_new_stack_adds_everything_and_makes_nothing(account: FakeAccount) -> None:
    stack = account.stacks.add("one")

    found = account.change_set(stack, of_things("A", B=thing("b", text={"Ref": "A"})))

    assert changes(found) == {"A": ("Add", None), "B": ("Add", None)}
    assert json.loads(found.changes[1]["AfterContext"])["Properties"]["Text"] == KNOWN_AFTER_APPLY
    assert account.calls == []
    assert stack.status == "REVIEW_IN_PROGRESS"


def test_what_changes_and_how(account: FakeAccount) -> None:
    before = of_things(
        "Gone", "Same", A=thing("a", size=1), B=thing("b"), C=thing("c", DeletionPolicy="Retain")
    )
    stack = account.deploy("one", before)

    found = account.change_set(stack, of_things("Same", "New", A=thing("a", size=2), B=thing("other")))

    assert changes(found) == {
        "Gone": ("Remove", None),
        "C": ("Remove", None),
        "New": ("Add", None),
        "A": ("Modify", "False"),
        "B": ("Modify", "True"),
    }
    assert {one["LogicalResourceId"]: one.get("PolicyAction") for one in found.changes[:2]} == {
        "Gone": "Delete",
        "C": "Retain",
    }
    target = details(found, "A")["Size"]["Target"]
    assert (target["BeforeValue"], target["AfterValue"], target["RequiresRecreation"]) == ("1", "2", "Never")
    assert details(found, "B")["Name"]["Target"]["RequiresRecreation"] == "Always"


def test_a_replacement_reaches_those_who_refer_to_it(account: FakeAccount) -> None:
    def template(name: str) -> dict[str, Any]:
        in_place, recreated = thing("b", text={"Ref": "A"}), thing({"Ref": "A"})  # type: ignore[arg-type]
        return of_things("Same", A=thing(name), B=in_place, C=recreated)

    stack = account.deploy("one", template("a"))

    found = account.change_set(stack, template("other"))

    assert changes(found) == {
        "A": ("Modify", "True"),
        "B": ("Modify", "False"),
        "C": ("Modify", "Conditional"),
    }
    assert details(found, "B")["Text"]["Evaluation"] == "Dynamic"
    assert details(found, "B")["Text"]["Target"]["AfterValue"] == KNOWN_AFTER_APPLY


def test_an_unknown_value_in_a_function_is_unknown_altogether(account: FakeAccount) -> None:
    part = {"Fn::Select": [3, {"Fn::Split": ["/", {"Fn::GetAtt": ["A", "Id"]}]}]}

    found = account.change_set(account.stacks.add("one"), of_things("A", B=thing("b", size=part)))

    assert json.loads(found.changes[1]["AfterContext"])["Properties"]["Size"] == KNOWN_AFTER_APPLY


SAME = of_things("A") | {"Outputs": {"X": {"Value": "x"}}, "Description": "old"}
BESIDE = [
    ("nothing", {}, {}, [], True),
    ("description", {"Description": "new"}, {}, [], True),
    ("outputs", {"Outputs": {}}, {}, [], False),
    ("tags", {}, {"Tags": [{"Key": "a", "Value": "b"}]}, [], False),
    ("metadata", of_things(A=thing("A", Metadata={"a": 1})), {}, ["Metadata"], False),
    ("policy", of_things(A=thing("A", DeletionPolicy="Retain")), {}, ["DeletionPolicy"], False),
    (
        "replace policy",
        of_things(A=thing("A", UpdateReplacePolicy="Retain")),
        {},
        ["UpdateReplacePolicy"],
        False,
    ),
]


@pytest.mark.parametrize(
    ("name", "other", "request_", "scope", "empty"), BESIDE, ids=[one[0] for one in BESIDE]
)
def test_changes_beside_properties(
    account: FakeAccount,
    name: str,
    other: dict[str, Any],
    request_: dict[str, Any],
    scope: list[str],
    empty: bool,
) -> None:
    stack = account.deploy("one", SAME)

    found = account.change_set(stack, SAME | other, **request_)

    assert found.empty is empty
    assert [one["Scope"] for one in found.changes] == ([scope] if scope else [])


def test_a_parameter_changes_what_uses_it(account: FakeAccount) -> None:
    template = of_things(A=thing("a", size={"Ref": "Size"})) | {
        "Parameters": {"Size": {"Type": "Number", "Default": 1}}
    }
    stack = account.deploy("one", template)

    same = account.change_set(stack, template)
    found = account.change_set(stack, template, Parameters=[{"ParameterKey": "Size", "ParameterValue": "2"}])

    assert same.empty
    assert changes(found) == {"A": ("Modify", "False")}


def test_a_stack_that_rolled_back_to_the_same_has_no_changes(account: FakeAccount) -> None:
    stack = account.deploy("one", of_things("A"))
    account.refused = {"create B"}
    account.deploy("one", of_things("A", "B"))
    assert stack.status == "UPDATE_ROLLBACK_COMPLETE"

    assert account.change_set(stack, of_things("A")).empty
    assert not account.change_set(stack, of_things("A", "B")).empty


def test_a_reference_to_nothing_is_refused_before_anything_happens(account: FakeAccount) -> None:
    with pytest.raises(Refused, match=r"Unresolved resource dependencies \[Nowhere\]"):
        account.change_set(account.stacks.add("one"), of_things(A=thing("a", text={"Ref": "Nowhere"})))


def test_rules_of_the_template_hold_or_refuse(account: FakeAccount) -> None:
    template = of_things("A") | {
        "Parameters": {"Version": {"Type": "String", "Default": "5"}},
        "Rules": {
            "Recent": {
                "Assertions": [
                    {
                        "Assert": {"Fn::Not": [{"Fn::Contains": [["1", "2"], {"Ref": "Version"}]}]},
                        "AssertDescription": "bootstrap again",
                    }
                ]
            }
        },
    }
    stack = account.stacks.add("one")

    assert not account.change_set(stack, template).empty
    with pytest.raises(Refused, match="rule Recent: bootstrap again"):
        account.change_set(stack, template, Parameters=[{"ParameterKey": "Version", "ParameterValue": "2"}])
    template["Rules"]["Recent"]["RuleCondition"] = {"Fn::Equals": ["a", "b"]}
    account.change_set(stack, template, Parameters=[{"ParameterKey": "Version", "ParameterValue": "2"}])


def test_change_sets_are_found_by_name_and_dropped_with_a_deployment(account: FakeAccount) -> None:
    stack = account.deploy("one", of_things("A"))
    change_set = account.change_set(stack, of_things("B"))
    account.stacks.add_change_set(change_set)

    assert account.stacks.change_set("changes", "one") is change_set
    assert account.stacks.change_set(change_set.id, None) is change_set
    with pytest.raises(AlreadyExists):
        account.stacks.add_change_set(account.change_set(stack, of_things("B")))
    with pytest.raises(ChangeSetNotFound):
        account.stacks.change_set("changes", "two")
    account.deploy("one", of_things("C"))
    with pytest.raises(ChangeSetNotFound):
        account.stacks.change_set("changes", "one")
