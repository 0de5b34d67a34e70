"""A role whose permissions stand in one attached policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from aws_cdk import Stack
from aws_cdk import aws_iam as iam

from hyperpod_constructs.policy_size import least_size
from hyperpod_constructs.tree_validation import validate_at_synth
from hyperpod_model.catalog.limits import MAX_MANAGED_POLICY_CHARACTERS


class RoleWithAttachedPermissions(iam.Role):
    """A role whose permissions, later grants included, stand in one customer-managed policy.

    It is attached, never inline. The policy names the role and not the other way round, so that buckets and
    keys may name the role as well without a circle.

    Attributes:
        permissions: The policy, or None as long as nothing is granted.

    Raises:
        RuntimeError: At synthesis, if the policy is longer than IAM accepts.
    """

    permissions: iam.ManagedPolicy | None = None
    _holder: ClassVar[str]
    """Who has the permissions, for the policy's description."""

    def add_to_principal_policy(self, statement: iam.PolicyStatement) -> iam.AddToPrincipalPolicyResult:
        """Add a statement to the attached policy; every ``grant_*`` of any construct ends here.

        Args:
            statement: What to allow.
        """
        if self.permissions is None:
            self.permissions = iam.ManagedPolicy(
                self,
                "Permissions",
                roles=[self],
                description=f"What {self._holder} of {Stack.of(self).node.path} may do",
                # Merging depends on a feature flag otherwise.
                document=iam.PolicyDocument(minimize=False),
            )
            validate_at_synth(self, self._find_oversize)
        self.permissions.add_statements(statement)
        return iam.AddToPrincipalPolicyResult(statement_added=True, policy_dependable=self.permissions)

    def _find_oversize(self) -> list[str]:
        assert self.permissions is not None
        size = least_size(Stack.of(self).resolve(self.permissions.document))
        if size <= MAX_MANAGED_POLICY_CHARACTERS:
            return []
        return [
            f"needs a policy of at most {MAX_MANAGED_POLICY_CHARACTERS} characters, which IAM accepts, got "
            f"at least {size}; grant less, or attach a policy of your own with iam.ManagedPolicy(..., "
            "roles=[role])"
        ]

    def _allow(
        self,
        sid: str,
        actions: Sequence[str],
        resources: Sequence[str],
        conditions: dict[str, Any] | None = None,
    ) -> None:
        self.add_to_principal_policy(
            iam.PolicyStatement(
                sid=sid, actions=list(actions), resources=list(resources), conditions=conditions
            )
        )
