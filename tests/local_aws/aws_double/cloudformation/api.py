"""The CloudFormation API of the double, in place of moto's."""

from __future__ import annotations

import re
from threading import Lock
from typing import Any, ClassVar, Final

from moto.cloudformation import urls
from moto.core.responses import ActionResult, BaseResponse, EmptyResult

from aws_double.cloudformation import answers
from aws_double.cloudformation.change_sets import ChangeSet, changes_beside_resources, changes_to
from aws_double.cloudformation.errors import (
    ChangeSetNotFound,
    InvalidChangeSetStatus,
    Refused,
    not_covered,
)
from aws_double.cloudformation.requests import goal_of, template_of
from aws_double.cloudformation.stack import Stack
from aws_double.cloudformation.stacks import Stacks
from aws_double.session import Session

_CDK_CLI: Final = re.compile(r"\baws-cdk|cdk-cli", re.IGNORECASE)
_HOLD_SECONDS: Final = 4.0
_CREDENTIAL: Final = re.compile(r"Credential=([^/]+)/")


class CloudFormation(BaseResponse):
    """One request. What AWS has beyond these operations is answered with an error that says so."""

    endpoint: ClassVar[str]
    pace: ClassVar[float] = 0.0
    _regions: ClassVar[dict[str, Stacks]] = {}
    _lock: ClassVar[Lock] = Lock()

    def __init__(self) -> None:
        super().__init__(service_name="cloudformation")
        self.automated_parameter_parsing = True

    @property
    def stacks(self) -> Stacks:
        """The stacks of the request's region."""
        with self._lock:
            if self.region not in self._regions:
                self._regions[self.region] = Stacks(self.region, endpoint=self.endpoint, pace=self.pace)
            return self._regions[self.region]

    @property
    def caller(self) -> Session:
        """Who asks."""
        found = _CREDENTIAL.search(self.headers.get("Authorization", ""))
        if found is None:
            raise Refused("the request is not signed")
        return Session(
            endpoint=self.endpoint,
            region=self.region,
            access_key=found[1],
            session_token=self.headers.get("X-Amz-Security-Token"),
        )

    @property
    def stack(self) -> Stack:
        """The stack that the request names."""
        return self.stacks.find(self.params["StackName"])

    def call_action(self) -> Any:
        """Answer the request."""
        action = re.sub(r"(?<!^)(?=[A-Z])", "_", self._get_action()).lower()
        if action not in vars(CloudFormation):
            return self._answered_with(not_covered(self._get_action()))
        return super().call_action()

    def create_stack(self) -> ActionResult:
        request = self.params
        stack = self.stacks.add(request["StackName"])
        try:
            goal, session = goal_of(request, stack, self.stacks, self.caller)
            changes_to(stack, goal, session, self.stacks.exports)
        except Refused:
            self.stacks.forget(stack)
            raise
        stack.termination_protection = request.get("EnableTerminationProtection", False)
        if request.get("OnFailure") == "DELETE":
            raise not_covered("OnFailure DELETE")
        self._deploy(stack, goal, session, disable_rollback=self._disables_rollback())
        return ActionResult({"StackId": stack.id})

    def update_stack(self) -> ActionResult:
        stack = self.stack
        self.stacks.check_updatable(stack)
        goal, session = goal_of(self.params, stack, self.stacks, self.caller)
        changes = changes_to(stack, goal, session, self.stacks.exports)
        if not changes and not changes_beside_resources(stack, goal):
            raise Refused("No updates are to be performed.")
        self._deploy(stack, goal, session, disable_rollback=self._disables_rollback())
        return ActionResult({"StackId": stack.id})

    def delete_stack(self) -> ActionResult:
        try:
            stack = self.stack
        except Refused:
            return EmptyResult()
        session = self.stacks.session(self.params.get("RoleARN", stack.role_arn), self.caller)
        self.stacks.delete(stack, session=session, retained=self.params.get("RetainResources", []))
        return EmptyResult()

    def create_change_set(self) -> ActionResult:
        request = self.params
        kind = request.get("ChangeSetType", "UPDATE")
        if kind == "IMPORT" or request.get("ResourcesToImport"):
            raise not_covered("import of existing resources")
        if kind == "CREATE":
            stack = self._stack_to_create(request["StackName"])
        else:
            stack = self.stack
            self.stacks.check_updatable(stack)
        goal, session = goal_of(request, stack, self.stacks, self.caller)
        change_set = ChangeSet.of(
            name=request["ChangeSetName"],
            stack=stack,
            goal=goal,
            session=session,
            exports=self.stacks.exports,
            description=request.get("Description"),
        )
        self.stacks.add_change_set(change_set)
        return ActionResult({"Id": change_set.id, "StackId": stack.id})

    def describe_change_set(self) -> ActionResult:
        with_values = self.params.get("IncludePropertyValues", False)
        return ActionResult(answers.described_change_set(self._change_set(), with_values=with_values))

    def list_change_sets(self) -> ActionResult:
        found = self.stacks.change_sets(self.stack)
        return ActionResult({"Summaries": [answers.change_set_summary(one) for one in found]})

    def delete_change_set(self) -> ActionResult:
        try:
            self.stacks.drop_change_sets([self._change_set()])
        except ChangeSetNotFound:
            return EmptyResult()
        return EmptyResult()

    def execute_change_set(self) -> ActionResult:
        change_set = self._change_set()
        if change_set.empty:
            raise InvalidChangeSetStatus(
                f"ChangeSet [{change_set.id}] cannot be executed in its current status of [FAILED]"
            )
        stack, goal = change_set.stack, change_set.goal
        session = self.stacks.session(goal.role_arn, self.caller)
        stack.change_set_id = change_set.id
        self._deploy(stack, goal, session, disable_rollback=self._disables_rollback())
        return EmptyResult()

    def rollback_stack(self) -> ActionResult:
        stack = self.stack
        session = self.stacks.session(self.params.get("RoleARN", stack.role_arn), self.caller)
        self.stacks.roll_back(
            stack,
            session=session,
            retains_except_on_create=self.params.get("RetainExceptOnCreate", False),
        )
        return ActionResult({"StackId": stack.id})

    def continue_update_rollback(self) -> ActionResult:
        stack = self.stack
        if self.params.get("ForceRollback"):
            raise not_covered("ForceRollback")
        session = self.stacks.session(self.params.get("RoleARN", stack.role_arn), self.caller)
        self.stacks.roll_back(stack, session=session, skipped=self.params.get("ResourcesToSkip", []))
        return EmptyResult()

    def cancel_update_stack(self) -> ActionResult:
        stack = self.stack
        if stack.status != "UPDATE_IN_PROGRESS":
            raise Refused(f"CancelUpdateStack cannot be called from current stack status {stack.status}")
        stack.cancelled.set()
        return EmptyResult()

    def update_termination_protection(self) -> ActionResult:
        stack = self.stack
        stack.termination_protection = self.params["EnableTerminationProtection"]
        return ActionResult({"StackId": stack.id})

    def describe_stacks(self) -> ActionResult:
        if "StackName" not in self.params:
            found = [stack for stack in self.stacks.all() if not stack.deleted]
        else:
            found = [self.stack]
            if _CDK_CLI.search(self.headers.get("User-Agent", "")):
                # The CLI asks every 5 s; an answer that comes late saves it most of that.
                found[0].wait(_HOLD_SECONDS)
        return ActionResult({"Stacks": [answers.described_stack(stack) for stack in found]})

    def list_stacks(self) -> ActionResult:
        wanted = self.params.get("StackStatusFilter", [])
        found = [one for one in self.stacks.all() if not wanted or one.status in wanted]
        return ActionResult({"StackSummaries": [answers.stack_summary(one) for one in found]})

    def describe_stack_events(self) -> ActionResult:
        try:
            stack = self.stack
        except Refused:
            raise Refused(f"Stack [{self.params['StackName']}] does not exist") from None
        return ActionResult({"StackEvents": list(stack.events)})

    def describe_stack_resources(self) -> ActionResult:
        if "StackName" not in self.params:
            raise not_covered("DescribeStackResources by PhysicalResourceId")
        wanted = self.params.get("LogicalResourceId")
        found = [one for one in self._resources() if wanted in {None, one["LogicalResourceId"]}]
        return ActionResult({"StackResources": found})

    def describe_stack_resource(self) -> ActionResult:
        wanted = self.params["LogicalResourceId"]
        for one in self._resources():
            if one["LogicalResourceId"] == wanted:
                return ActionResult({"StackResourceDetail": one})
        raise Refused(f"Resource {wanted} does not exist for stack {self.params['StackName']}")

    def list_stack_resources(self) -> ActionResult:
        return ActionResult({"StackResourceSummaries": self._resources()})

    def get_template(self) -> ActionResult:
        of_change_set = "ChangeSetName" in self.params
        goal = self._change_set().goal if of_change_set else self.stack.shown_goal
        body = "" if goal is None else goal.template.source
        return ActionResult({"TemplateBody": body, "StagesAvailable": ["Original", "Processed"]})

    def get_template_summary(self) -> ActionResult:
        stack = self.stack if "StackName" in self.params else None
        if stack is not None and stack.shown_goal is not None:
            return ActionResult(answers.template_summary(stack.shown_goal.template))
        return ActionResult(answers.template_summary(template_of(self.params, None, self.caller)))

    def validate_template(self) -> ActionResult:
        return ActionResult(answers.template_summary(template_of(self.params, None, self.caller)))

    def list_exports(self) -> ActionResult:
        found = self.stacks.exported().items()
        exports = [
            {"ExportingStackId": stack.id, "Name": name, "Value": value} for name, (stack, value) in found
        ]
        return ActionResult({"Exports": exports})

    def list_imports(self) -> ActionResult:
        name = self.params["ExportName"]
        importers = self.stacks.importers(name)
        if not importers:
            raise Refused(f"Export '{name}' is not imported by any stack.")
        return ActionResult({"Imports": importers})

    def _deploy(self, stack: Stack, goal: Any, session: Session, *, disable_rollback: bool) -> None:
        self.stacks.deploy(
            stack,
            goal,
            session=session,
            disable_rollback=disable_rollback,
            retains_except_on_create=self.params.get("RetainExceptOnCreate", False),
        )

    def _disables_rollback(self) -> bool:
        return bool(self.params.get("DisableRollback")) or self.params.get("OnFailure") == "DO_NOTHING"

    def _change_set(self) -> ChangeSet:
        return self.stacks.change_set(self.params["ChangeSetName"], self.params.get("StackName"))

    def _stack_to_create(self, name: str) -> Stack:
        try:
            stack = self.stacks.find(name)
        except Refused:
            return self.stacks.add(name)
        if stack.status != "REVIEW_IN_PROGRESS":
            raise Refused(
                f"Stack [{name}] already exists and cannot be created again with the changeSet [CREATE]."
            )
        return stack

    def _resources(self) -> list[dict[str, Any]]:
        stack = self.stack
        return [answers.described_resource(stack, one) for one in list(stack.resources.values())]

    def _answered_with(self, error: Refused) -> Any:
        status, headers, body = self.serialized(ActionResult(error))
        return status, headers, body


def install(*, endpoint: str, pace: float) -> None:
    """Put this API in the place of moto's.

    Args:
        endpoint: Address of the double.
        pace: Seconds to wait before each resource.
    """
    CloudFormation.endpoint, CloudFormation.pace = endpoint, pace
    urls.url_paths = {"{0}/$": CloudFormation.dispatch}
