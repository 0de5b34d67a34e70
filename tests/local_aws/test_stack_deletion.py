import pytest
from fake_account import FakeAccount, of_things, reasons, statuses, thing

from aws_double.cloudformation.errors import Refused

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


def test_a_stack_can_be_deleted_while_it_is_created(account: FakeAccount) -> None:
    account.stacks.pace = 0.2
    stack = account.deploy("one", of_things("A", "B", "C"), waits=False)

    account.delete(stack)
    while not stack.deleted:
        stack.wait(1)

    assert statuses(stack)[-3:] == ["ROLLBACK_COMPLETE", "DELETE_IN_PROGRESS", "DELETE_COMPLETE"]
    assert account.things == {}
