"""The stacks of a region, their exports, and the threads that work on them."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from threading import RLock, Thread
from typing import Final

from aws_double.cloudformation.change_sets import ChangeSet
from aws_double.cloudformation.errors import AlreadyExists, ChangeSetNotFound, Refused, stack_missing
from aws_double.cloudformation.operations import Operation
from aws_double.cloudformation.stack import Goal, Stack
from aws_double.session import Session

UPDATABLE: Final = frozenset(
    ["CREATE_COMPLETE", "CREATE_FAILED", "UPDATE_COMPLETE", "UPDATE_FAILED", "UPDATE_ROLLBACK_COMPLETE"]
)
"""Statuses in which a stack can be updated."""


class Stacks:
    """The stacks of one region.

    Args:
        region: The region.
        endpoint: Address of the double.
        pace: Seconds to wait before each resource.
    """

    def __init__(self, region: str, *, endpoint: str, pace: float) -> None:
        self.region = region
        self._root = Session(endpoint=endpoint, region=region)
        self.pace = pace
        self._stacks: dict[str, Stack] = {}
        self._change_sets: dict[str, ChangeSet] = {}
        self._lock = RLock()

    def all(self) -> list[Stack]:
        """Return every stack, deleted ones included, the newest first."""
        return list(reversed(self._stacks.values()))

    def find(self, name: str) -> Stack:
        """Return a stack by its name, or by its ARN even if it is deleted.

        Raises:
            Refused: If there is none.
        """
        for stack in self.all():
            if name == stack.id or (name == stack.name and not stack.deleted):
                return stack
        raise stack_missing(name)

    def add(self, name: str) -> Stack:
        """Make a stack without anything in it.

        Raises:
            AlreadyExists: If one of that name is there.
        """
        with self._lock:
            if any(one.name == name and not one.deleted for one in self.all()):
                raise AlreadyExists(f"Stack [{name}] already exists")
            stack = Stack(name, self.region)
            self._stacks[stack.id] = stack
            stack.set_status("REVIEW_IN_PROGRESS", "User Initiated")
            return stack

    def forget(self, stack: Stack) -> None:
        """Take back a stack whose request turned out to be wrong."""
        with self._lock:
            del self._stacks[stack.id]

    def exports(self) -> dict[str, str]:
        """Return the exported values by name."""
        return {name: value for name, (_, value) in self.exported().items()}

    def exported(self) -> dict[str, tuple[Stack, str]]:
        """Return the exporting stack and the value by name."""
        return {
            output.export: (stack, str(output.value))
            for stack in reversed(self.all())
            for output in stack.outputs.values()
            if output.export is not None
        }

    def importers(self, name: str) -> list[str]:
        """Return the names of the stacks that import a value."""
        return sorted(stack.name for stack in self.all() if name in stack.imports)

    def add_change_set(self, change_set: ChangeSet) -> None:
        """Keep a change set.

        Raises:
            AlreadyExists: If the stack has one of that name.
        """
        with self._lock:
            if any(one.name == change_set.name for one in self.change_sets(change_set.stack)):
                raise AlreadyExists(
                    f"ChangeSet {change_set.name} already exists for stack {change_set.stack.id}"
                )
            self._change_sets[change_set.id] = change_set

    def change_sets(self, stack: Stack) -> list[ChangeSet]:
        """Return the change sets of a stack."""
        return [one for one in self._change_sets.values() if one.stack is stack]

    def change_set(self, name: str, stack_name: str | None) -> ChangeSet:
        """Return a change set by its ARN, or by its name and that of its stack.

        Raises:
            ChangeSetNotFound: If there is none.
        """
        for one in self._change_sets.values():
            if name == one.id or (name == one.name and stack_name in {one.stack.name, one.stack.id}):
                return one
        raise ChangeSetNotFound(f"ChangeSet [{name}] does not exist")

    def drop_change_sets(self, change_sets: Iterable[ChangeSet]) -> None:
        """Forget change sets."""
        with self._lock:
            for one in change_sets:
                self._change_sets.pop(one.id, None)

    def check_updatable(self, stack: Stack) -> None:
        """Refuse to update a stack on which something goes on, or that failed.

        Raises:
            Refused: With its status.
        """
        if stack.status not in UPDATABLE:
            raise Refused(f"Stack:{stack.id} is in {stack.status} state and can not be updated.")

    def session(self, role_arn: str | None, caller: Session) -> Session:
        """Return the principal that an operation works as.

        Raises:
            Refused: If the role cannot be assumed.
        """
        if role_arn is None:
            return caller
        try:
            # CloudFormation itself assumes the role, whoever asks it to.
            return self._root.assume(role_arn, name="AWSCloudFormation")
        except Exception as error:
            raise Refused(f"Role {role_arn} is invalid or cannot be assumed: {error}") from error

    def deploy(
        self,
        stack: Stack,
        goal: Goal,
        *,
        session: Session,
        disable_rollback: bool = False,
        retains_except_on_create: bool = False,
    ) -> None:
        """Begin to create or update a stack.

        Raises:
            Refused: If something else goes on.
        """
        with self._lock:
            if stack.status == "REVIEW_IN_PROGRESS":
                status = "CREATE_IN_PROGRESS"
            else:
                self.check_updatable(stack)
                status = "UPDATE_IN_PROGRESS"
                stack.updated_at = datetime.now(UTC)
            stack.role_arn = goal.role_arn if goal.role_arn is not None else stack.role_arn
            stack.disable_rollback = disable_rollback
            self.drop_change_sets(self.change_sets(stack))
            self._begin(
                stack,
                status,
                session,
                lambda operation: operation.deploy(
                    goal,
                    rolls_back=not disable_rollback,
                    retains_except_on_create=retains_except_on_create,
                ),
            )

    def delete(self, stack: Stack, *, session: Session, retained: Iterable[str] = ()) -> None:
        """Begin to delete a stack.

        Raises:
            Refused: If it is protected, or something else than its creation goes on.
        """
        kept = list(retained)
        with self._lock:
            if stack.deleted or stack.status == "DELETE_IN_PROGRESS":
                return
            if stack.termination_protection:
                raise Refused(
                    f"Stack [{stack.name}] cannot be deleted while TerminationProtection is enabled"
                )
            if kept and stack.status != "DELETE_FAILED":
                raise Refused("RetainResources is for a stack that failed to delete")
            creating = stack.status in {"CREATE_IN_PROGRESS", "ROLLBACK_IN_PROGRESS"}
            if stack.busy and not creating:
                raise Refused(f"Stack [{stack.name}] cannot be deleted while in status {stack.status}")
            self.drop_change_sets(self.change_sets(stack))
            if creating:
                stack.cancelled.set()
                self._in_thread(stack, lambda: self._delete_after_creation(stack, session))
            else:
                self._begin(stack, "DELETE_IN_PROGRESS", session, lambda one: one.delete(retained=kept))

    def roll_back(
        self,
        stack: Stack,
        *,
        session: Session,
        skipped: Iterable[str] = (),
        retains_except_on_create: bool = False,
    ) -> None:
        """Begin to roll back a stack that failed without rollback, or continue a rollback that failed.

        Raises:
            Refused: If there is nothing to roll back.
        """
        with self._lock:
            if stack.status not in {"CREATE_FAILED", "UPDATE_FAILED", "UPDATE_ROLLBACK_FAILED"}:
                raise Refused(f"Stack:{stack.id} is in {stack.status} state and can not be rolled back.")
            creates = stack.before is None or stack.before.goal is None
            status = "ROLLBACK_IN_PROGRESS" if creates else "UPDATE_ROLLBACK_IN_PROGRESS"
            self._begin(
                stack,
                status,
                session,
                lambda operation: operation.roll_back(
                    reason="User Initiated",
                    skipped=skipped,
                    retains_except_on_create=retains_except_on_create,
                ),
            )

    def _delete_after_creation(self, stack: Stack, session: Session) -> None:
        while stack.busy:
            stack.wait(1.0)
        with self._lock:
            self._begin(stack, "DELETE_IN_PROGRESS", session, Operation.delete)

    def _begin(self, stack: Stack, status: str, session: Session, work: Callable[[Operation], None]) -> None:
        stack.cancelled.clear()
        stack.begin_operation()
        stack.set_status(status, "User Initiated")
        operation = Operation(
            stack, session=session, exports=self.exports, importers=self.importers, pace=self.pace
        )
        self._in_thread(stack, lambda: work(operation))

    def _in_thread(self, stack: Stack, work: Callable[[], None]) -> None:
        def guarded() -> None:
            try:
                work()
            except Exception as error:
                # A fault of the double: nobody waits for this thread, so the stack has to tell.
                traceback.print_exception(error, file=sys.stderr)
                status = stack.status.replace("_COMPLETE_CLEANUP", "").replace("_IN_PROGRESS", "_FAILED")
                stack.set_status(status, f"fault of the double: {type(error).__name__}: {error}")

        Thread(target=guarded, name=f"stack {stack.name}", daemon=True).start()
