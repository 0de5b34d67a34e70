"""Creates, updates, rolls back and deletes stacks, as CloudFormation does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime

from aws_double.cloudformation.errors import Refused
from aws_double.cloudformation.plan import Plan
from aws_double.cloudformation.stack import Deployed, Goal, Output, Stack, State
from aws_double.cloudformation.work import Work, WorkFailed
from aws_double.cloudformation.world import Exports, StackWorld
from aws_double.session import Session


class Operation:
    """One operation on a stack, in whatever thread calls it.

    Args:
        stack: The stack, already marked as busy.
        session: The principal that CloudFormation works as.
        exports: Exported values of the region.
        importers: Returns the names of the stacks that import an exported value.
        pace: Seconds to wait before each resource.
    """

    def __init__(
        self,
        stack: Stack,
        *,
        session: Session,
        exports: Exports,
        importers: Callable[[str], list[str]],
        pace: float = 0.0,
    ) -> None:
        self._stack = stack
        self._session = session
        self._exports = exports
        self._importers = importers
        self._work = Work(stack, session, pace)

    def deploy(self, goal: Goal, *, rolls_back: bool = True, retains_except_on_create: bool = False) -> None:
        """Bring the stack to a goal; if that fails, bring it back unless told not to."""
        stack, creates = self._stack, self._stack.status == "CREATE_IN_PROGRESS"
        stack.pending = goal
        if stack.before is None:
            stack.before = stack.state
        try:
            self._apply(goal)
        except (Refused, WorkFailed) as failure:
            reason = failure.message if isinstance(failure, Refused) else str(failure)
            stack.cancelled.clear()
            if rolls_back:
                self.roll_back(reason=reason, retains_except_on_create=retains_except_on_create)
            else:
                stack.set_status("CREATE_FAILED" if creates else "UPDATE_FAILED", reason)

    def roll_back(
        self,
        *,
        reason: str | None = None,
        skipped: Iterable[str] = (),
        retains_except_on_create: bool = False,
    ) -> None:
        """Undo what the last operation did, as far as it is not undone yet.

        Args:
            reason: Why.
            skipped: Logical ids of resources to leave as they are, though they count as undone.
            retains_except_on_create: Whether to delete new resources though their policy is to retain them.
        """
        stack = self._stack
        stack.begin_operation()
        updates = stack.before is not None and stack.before.goal is not None
        stack.set_status("UPDATE_ROLLBACK_IN_PROGRESS" if updates else "ROLLBACK_IN_PROGRESS", reason)
        for step in stack.steps:
            policy = step.after.resource.deletion_policy
            if policy == "RetainExceptOnCreate" or (retains_except_on_create and policy == "Retain"):
                # An update in place that is undone has its policy from before again.
                step.after.resource.deletion_policy = "Delete"
        if stack.before is not None and stack.before.goal is not None:
            self._roll_back_update(stack.before, frozenset(skipped))
        else:
            self._roll_back_creation()

    def delete(self, *, retained: Iterable[str] = ()) -> None:
        """Delete the stack with its resources.

        Args:
            retained: Logical ids of resources to leave alone.
        """
        stack = self._stack
        for output in stack.outputs.values():
            users = [] if output.export is None else self._importers(output.export)
            if users:
                reason = f"Export {output.export} cannot be deleted as it is in use by {' and '.join(users)}"
                stack.set_status("DELETE_FAILED", reason)
                return
        for logical_id in retained:
            stack.resources[logical_id].resource.deletion_policy = "Retain"
        failed = self._work.delete(list(stack.resources.values()))
        if failed:
            stack.set_status("DELETE_FAILED", _failed_to("delete", failed))
            return
        stack.outputs, stack.imports = {}, frozenset()
        stack.deleted_at = datetime.now(UTC)
        stack.set_status("DELETE_COMPLETE")

    def _apply(self, goal: Goal) -> None:
        stack = self._stack
        world = StackWorld(stack, stack.resources, self._session, self._exports)
        plan = Plan.of(goal, world)
        for logical_id in plan.order:
            self._apply_one(plan, logical_id)
        outputs = plan.outputs()
        self._check_exports(outputs)
        replaced = []
        for step in stack.steps:
            if step.replaced and step.before is not None and step.before not in replaced:
                step.before.resource.deletion_policy = step.after.replace_policy
                replaced.append(step.before)
        removed = [one for name, one in stack.resources.items() if name not in plan.nodes]
        stack.goal, stack.outputs, stack.imports = goal, outputs, frozenset(world.imports)
        stack.steps, stack.before, stack.pending = [], None, None
        if stack.status == "CREATE_IN_PROGRESS":
            stack.set_status("CREATE_COMPLETE")
        else:
            self._clean_up("UPDATE", [*removed, *replaced])

    def _apply_one(self, plan: Plan, logical_id: str) -> None:
        stack = self._stack
        present = stack.resources.get(logical_id)
        if present is not None and present.status == "CREATE_FAILED":
            # Left by an attempt without rollback.
            self._work.delete([present])
            present = None
        try:
            wanted = plan.resource(logical_id, stack)
        except Refused as error:
            if present is not None:
                self._work.fail(present, "UPDATE", error)
            self._work.fail(plan.with_properties(logical_id, stack, {}), "CREATE", error)
        if present is None:
            self._work.create(wanted)
        elif present.resource.properties != wanted.resource.properties or present.status == "UPDATE_FAILED":
            self._work.update(present, wanted)
        else:
            self._work.keep(present, wanted)

    def _check_exports(self, outputs: Mapping[str, Output]) -> None:
        mine = {one.export: one.value for one in self._stack.outputs.values() if one.export is not None}
        wanted = {one.export: one.value for one in outputs.values() if one.export is not None}
        taken = sorted((wanted.keys() & self._exports().keys()) - mine.keys())
        if taken:
            raise Refused(f"Export with name {taken[0]} is already exported by another stack.")
        for name, value in mine.items():
            users = " and ".join(self._importers(name))
            if users and name not in wanted:
                raise Refused(f"Export {name} cannot be deleted as it is in use by {users}")
            if users and wanted[name] != value:
                raise Refused(f"Cannot update export {name} as it is in use by {users}")

    def _roll_back_creation(self) -> None:
        stack = self._stack
        stack.steps = []
        failed = self._work.delete(list(stack.resources.values()))
        if failed:
            stack.set_status("ROLLBACK_FAILED", _failed_to("delete", failed))
        else:
            stack.set_status("ROLLBACK_COMPLETE")

    def _roll_back_update(self, before: State, skipped: frozenset[str]) -> None:
        stack = self._stack
        stack.pending = None
        while stack.steps:
            step = stack.steps[-1]
            logical_id = step.after.resource.logical_id
            if step.before is None:
                del stack.resources[logical_id]
                stack.leftovers.append(step.after)
            elif step.untouched:
                stack.resources[logical_id] = step.before
            elif step.replaced:
                stack.resources[logical_id] = step.before
                stack.leftovers.append(step.after)
            elif logical_id in skipped:
                stack.resources[logical_id] = step.before
                stack.report(step.before, "UPDATE_COMPLETE", "Resource skipped during UpdateRollback")
            elif not self._work.revert(step.before, step.after):
                stack.set_status("UPDATE_ROLLBACK_FAILED", _failed_to("update", [logical_id]))
                return
            stack.steps.pop()
        stack.goal, stack.outputs, stack.imports = before.goal, before.outputs, before.imports
        leftovers, stack.leftovers, stack.before = stack.leftovers, [], None
        self._clean_up("UPDATE_ROLLBACK", leftovers)

    def _clean_up(self, kind: str, leftovers: list[Deployed]) -> None:
        """Delete what is no longer part of the stack; what cannot be deleted is left behind, as on AWS."""
        self._stack.set_status(f"{kind}_COMPLETE_CLEANUP_IN_PROGRESS")
        for deployed in leftovers:
            if self._stack.resources.get(deployed.resource.logical_id) is deployed:
                del self._stack.resources[deployed.resource.logical_id]
        self._work.delete(leftovers)
        self._stack.set_status(f"{kind}_COMPLETE")


def _failed_to(verb: str, logical_ids: list[str]) -> str:
    return f"The following resource(s) failed to {verb}: [{', '.join(logical_ids)}]. "
