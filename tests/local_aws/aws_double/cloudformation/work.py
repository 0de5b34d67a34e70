"""Creates, changes and deletes the resources of a stack one by one, and tells about it in events."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Iterable
from dataclasses import replace
from typing import Final, NoReturn

from botocore.exceptions import ClientError

from aws_double.cloudformation.errors import Refused
from aws_double.cloudformation.order import Node, deletion
from aws_double.cloudformation.stack import Deployed, Stack, Step
from aws_double.resource import TYPES, Resource, ResourceFailure
from aws_double.session import InvalidRequestError, Session

_GONE: Final = re.compile(r"NotFound|NoSuch|DoesNotExist")
_REPLACING: Final = "Requested update requires the creation of a new physical resource; hence creating one."


class WorkFailed(Exception):
    """A resource failed; the text is the reason that the stack shows."""


class Work:
    """Work on the resources of one stack.

    Args:
        stack: The stack.
        session: The principal that CloudFormation works as.
        pace: Seconds to wait before each resource.
    """

    def __init__(self, stack: Stack, session: Session, pace: float) -> None:
        self._stack = stack
        self._session = session
        self._pace = pace

    def create(self, wanted: Deployed) -> None:
        """Create a resource that the stack has not.

        Raises:
            WorkFailed: If it fails.
        """
        self._begin(Step(before=None, after=wanted), "CREATE_IN_PROGRESS")
        try:
            self._make(wanted.resource)
        except Exception as error:
            self.fail(wanted, "CREATE", error)
        self._stack.report(wanted, "CREATE_COMPLETE")

    def update(self, present: Deployed, wanted: Deployed) -> None:
        """Change a resource in place, or create the one that replaces it.

        Raises:
            WorkFailed: If it fails.
        """
        before, after = present.resource, wanted.resource
        kind = TYPES[after.type]
        try:
            replaces = kind.replaces(before.properties, after.properties)
        except Exception as error:
            self.fail(present, "UPDATE", error)
        step = Step(before=present, after=wanted, replaced=replaces)
        if not replaces:
            after.physical_id, after.attributes = before.physical_id, dict(before.attributes)
        self._begin(step, "UPDATE_IN_PROGRESS", _REPLACING if replaces else None)
        try:
            if replaces:
                self._make(after)
            else:
                kind.check(after)
                kind.update(before, after, self._session)
                if after.physical_id != before.physical_id:
                    # A custom resource's handler replaced it; what was before goes in the clean-up.
                    self._stack.steps[-1] = replace(step, replaced=True)
        except Exception as error:
            if replaces:
                self._stack.resources[after.logical_id] = present
            self.fail(wanted, "UPDATE", error)
        self._stack.report(wanted, "UPDATE_COMPLETE")

    def keep(self, present: Deployed, wanted: Deployed) -> None:
        """Note what the template now says of a resource beside its properties."""
        kept = replace(
            wanted,
            resource=replace(present.resource, deletion_policy=wanted.resource.deletion_policy),
            status=present.status,
            changed_at=present.changed_at,
        )
        self._stack.resources[kept.resource.logical_id] = kept
        self._stack.steps.append(Step(before=present, after=kept, untouched=True))

    def revert(self, before: Deployed, after: Deployed) -> bool:
        """Change a resource back in place; return whether that worked."""
        now = after.resource
        old = replace(before.resource, physical_id=now.physical_id, attributes=dict(now.attributes))
        reverted = replace(before, resource=old)
        self._stack.report(after, "UPDATE_IN_PROGRESS")
        try:
            TYPES[old.type].update(now, old, self._session)
        except Exception as error:
            self._stack.report(after, "UPDATE_FAILED", reason(error))
            return False
        self._stack.resources[old.logical_id] = reverted
        self._stack.report(reverted, "UPDATE_COMPLETE")
        return True

    def delete(self, resources: Iterable[Deployed]) -> list[str]:
        """Delete resources, or leave them where their policy says so.

        Returns:
            Logical ids of those that failed; what these need stays, too.
        """
        waiting = {f"{one.resource.logical_id} {place}": one for place, one in enumerate(resources)}
        nodes = _nodes(waiting)
        failed: list[str] = []
        blocked: set[str] = set()
        for name in deletion(nodes):
            deployed = waiting[name]
            if name not in blocked:
                self._pause()
                if self._delete_one(deployed):
                    continue
                failed.append(deployed.resource.logical_id)
            blocked |= nodes[name].depends_on
        return failed

    def fail(self, deployed: Deployed, verb: str, error: Exception) -> NoReturn:
        """Report a failure.

        Raises:
            WorkFailed: Always.
        """
        self._stack.report(deployed, f"{verb}_FAILED", reason(error))
        raise WorkFailed(
            f"The following resource(s) failed to {verb.lower()}: [{deployed.resource.logical_id}]. "
        ) from error

    def _begin(self, step: Step, status: str, why: str | None = None) -> None:
        self._pause()
        self._stack.resources[step.after.resource.logical_id] = step.after
        self._stack.steps.append(step)
        self._stack.report(step.after, status, why)

    def _make(self, resource: Resource) -> None:
        kind = TYPES[resource.type]
        kind.check(resource)
        kind.create(resource, self._session)
        if not resource.physical_id:
            raise ResourceFailure(f"{resource.type} of this double has set no physical id")

    def _delete_one(self, deployed: Deployed) -> bool:
        stack, resource = self._stack, deployed.resource
        if resource.deletion_policy.startswith("Retain"):
            stack.report(deployed, "DELETE_SKIPPED")
        elif resource.physical_id:
            stack.report(deployed, "DELETE_IN_PROGRESS")
            try:
                if resource.deletion_policy == "Snapshot":
                    raise ResourceFailure(
                        f"DeletionPolicy Snapshot of {resource.type} is not covered by this double"
                    )
                TYPES[resource.type].delete(resource, self._session)
            except Exception as error:
                if not _is_gone(error):
                    stack.report(deployed, "DELETE_FAILED", reason(error))
                    return False
            stack.report(deployed, "DELETE_COMPLETE")
        if stack.resources.get(resource.logical_id) is deployed:
            del stack.resources[resource.logical_id]
        return True

    def _pause(self) -> None:
        if self._stack.cancelled.wait(self._pace):
            raise WorkFailed("Resource operation cancelled. ")


def reason(error: Exception) -> str:
    """Return why a resource failed, as its event says."""
    if isinstance(error, Refused):
        return str(error.message)
    if isinstance(error, ResourceFailure | InvalidRequestError | ClientError):
        return str(error)
    # A fault of the double itself: the event tells what, the log where.
    traceback.print_exception(error, file=sys.stderr)
    return f"{type(error).__name__}: {error}"


def _is_gone(error: Exception) -> bool:
    """Tell whether what was to be deleted is not there: to CloudFormation it is deleted, then."""
    return isinstance(error, ClientError) and _GONE.search(error.response["Error"]["Code"]) is not None


def _nodes(resources: dict[str, Deployed]) -> dict[str, Node]:
    """Return the nodes of resources of which two may have one logical id: an old one and what replaces it."""
    by_logical_id: dict[str, set[str]] = {}
    for name, one in resources.items():
        by_logical_id.setdefault(one.resource.logical_id, set()).add(name)
    return {
        name: Node(
            type=one.resource.type,
            depends_on=frozenset().union(*(by_logical_id.get(target, set()) for target in one.depends_on)),
        )
        for name, one in resources.items()
    }
