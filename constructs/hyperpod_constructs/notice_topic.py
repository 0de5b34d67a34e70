"""The topic by which people hear of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aws_cdk import Aws, RemovalPolicy, Stack, Token
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from hyperpod_constructs.argument_faults import refuse_arguments
from hyperpod_constructs.argument_kinds import NOTICES, ROLE, TOPIC, check_kind, check_list
from hyperpod_constructs.rotating_key import rotating_key
from hyperpod_constructs.tokens import known
from hyperpod_model.catalog.metrics import PROMETHEUS_SERVICE, TOPIC_ACTIONS
from hyperpod_model.catalog.notifications import (
    ALARMS_SERVICE,
    BUDGETS_SERVICE,
    EVENTS_SERVICE,
    KEY_ACTIONS,
    PUBLISH_ACTION,
    TOPIC_ENCRYPTION_CONTEXT,
)
from hyperpod_model.checks.observability import check_emails
from hyperpod_model.faults import Fault

_Conditions = dict[str, dict[str, object]]


class NoticeTopic(Construct):
    """An encrypted SNS topic that admits the services it is told to, and nobody else by its policies.

    Topic and key have policies of their own. A service gets into both when ``admit_events``,
    ``admit_alarms``, ``admit_budgets`` or ``admit_prometheus`` is called, for this account only: all but
    events by ``aws:SourceAccount`` and ``aws:SourceArn``. EventBridge tells neither to SNS, so that a policy
    which asked would drop its messages in silence; with the key it is held to topics of this account by SNS's
    encryption context. Publishing without TLS is denied. Sources: SNS developer guide, sns-key-management;
    EventBridge user guide, SNS permissions.

    The key goes with the stack, after KMS's waiting period: SNS keeps a message until it is delivered.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        emails: Addresses that are subscribed. AWS mails each once and sends nothing else before it is
            confirmed. Default: none.
        display_name: Sender that e-mails name, up to 100 characters. Default: none.

    Attributes:
        topic: The topic.
        key: Its key. None for an existing topic.

    Raises:
        InvalidInputError: If an address is none, or given twice.
    """

    topic: sns.ITopic
    key: kms.IKey | None

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        emails: Sequence[str] = (),
        display_name: str | None = None,
    ) -> None:
        super().__init__(scope, id)
        self._check_emails(emails)
        key = rotating_key(
            self, "Key", description=f"Notices: {self.node.path}", removal_policy=RemovalPolicy.DESTROY
        )
        self.key = key
        self._own = sns.Topic(self, "Resource", master_key=key, display_name=display_name, enforce_ssl=True)
        self.topic = self._own
        self._admitted: set[str] = set()
        self._subscribe(emails)

    @staticmethod
    def from_topic(
        scope: Construct, id: str, *, topic: sns.ITopic, emails: Sequence[str] = ()
    ) -> NoticeTopic:
        """Use a topic that exists already. Its policy and its key's stay their owner's.

        Args:
            scope: Parent of the construct.
            id: Id within the parent.
            topic: The topic, in the region of what publishes to it.
            emails: Addresses that are subscribed besides. Default: none.

        Raises:
            InvalidInputError: If it is no topic, a FIFO topic or one of another region, or an address is
                none.
        """
        return _ExistingTopic(scope, id, topic=topic, emails=emails)

    def admit_events(self) -> None:
        """Let EventBridge rules of this account publish."""
        self._admit(EVENTS_SERVICE, "Events", {})

    def admit_alarms(self) -> None:
        """Let CloudWatch alarms of this account and region publish."""
        alarms = f"arn:{Aws.PARTITION}:cloudwatch:{Aws.REGION}:{Aws.ACCOUNT_ID}:alarm:*"
        self._admit(ALARMS_SERVICE, "Alarms", _on_behalf_of(alarms))

    def admit_budgets(self) -> None:
        """Let AWS Budgets of this account publish. Source: Cost Management user guide, budgets-sns-policy."""
        budgets = f"arn:{Aws.PARTITION}:budgets::{Aws.ACCOUNT_ID}:*"
        self._admit(BUDGETS_SERVICE, "Budgets", _on_behalf_of(budgets))

    def admit_prometheus(self) -> None:
        """Let the alert managers of this account and region publish.

        Source: Amazon Managed Service for Prometheus user guide, AMP-alertmanager-receiver-AMPpermission. Its
        statement for the key has no condition on the source, so that the key is held to topics of this
        account by SNS's encryption context alone.
        """
        workspaces = f"arn:{Aws.PARTITION}:aps:{Aws.REGION}:{Aws.ACCOUNT_ID}:workspace/*"
        self._admit(
            PROMETHEUS_SERVICE,
            "Prometheus",
            _on_behalf_of(workspaces),
            actions=TOPIC_ACTIONS,
            key_conditions={},
        )

    def grant_publish(self, role: iam.IRole) -> iam.Grant:
        """Let a role publish, such as that of jobs which tell of their own end.

        Args:
            role: A role of the topic's account.
        """
        refuse_arguments(f"notice topic '{self.node.path}'", check_kind(role, ROLE, ("role",), required=True))
        grant = iam.Grant.add_to_principal(
            grantee=role, actions=[PUBLISH_ACTION], resource_arns=[self.topic.topic_arn]
        )
        if self.key is not None:
            role.add_to_principal_policy(
                iam.PolicyStatement(
                    actions=list(KEY_ACTIONS),
                    resources=[self.key.key_arn],
                    conditions={"StringLike": {"kms:ViaService": f"sns.{Aws.REGION}.*"}},
                )
            )
        return grant

    def _admit(
        self,
        service: str,
        sid: str,
        conditions: _Conditions,
        *,
        actions: Sequence[str] = (PUBLISH_ACTION,),
        key_conditions: _Conditions | None = None,
    ) -> None:
        if service in self._admitted:
            return
        self._admitted.add(service)
        principal = iam.ServicePrincipal(service)
        self._own.add_to_resource_policy(
            iam.PolicyStatement(
                sid=f"Publish{sid}",
                principals=[principal],
                actions=list(actions),
                resources=[self.topic.topic_arn],
                conditions=conditions,
            )
        )
        assert self.key is not None
        of_key = conditions if key_conditions is None else key_conditions
        self.key.add_to_resource_policy(
            iam.PolicyStatement(
                sid=f"Encrypt{sid}",
                principals=[principal],
                actions=list(KEY_ACTIONS),
                resources=["*"],
                conditions=of_key if of_key else _for_own_topics(),
            )
        )

    def _check_emails(self, emails: Sequence[str]) -> None:
        owner = f"notice topic '{self.node.path}'"
        refuse_arguments(owner, check_list(emails, ("emails",), of="e-mail addresses"))
        faults = check_emails([known(address) for address in emails])
        refuse_arguments(owner, [fault._replace(path=("emails", *fault.path)) for fault in faults])

    def _subscribe(self, emails: Sequence[str]) -> None:
        for number, address in enumerate(emails, start=1):
            # Named by the address, so that taking one out of the list leaves the other subscriptions alone.
            name = f"Email{number}" if Token.is_unresolved(address) else address
            sns.CfnSubscription(
                self, name, topic_arn=self.topic.topic_arn, protocol="email", endpoint=address
            )


class _ExistingTopic(NoticeTopic):
    def __init__(self, scope: Construct, id: str, *, topic: sns.ITopic, emails: Sequence[str]) -> None:
        Construct.__init__(self, scope, id)
        refuse_arguments(
            f"notice topic '{self.node.path}'", check_standard_topic(topic, scope=self, required=True)
        )
        self._check_emails(emails)
        self.topic = topic
        self.key = None
        self._subscribe(emails)

    def _admit(
        self,
        service: str,
        sid: str,
        conditions: _Conditions,
        *,
        actions: Sequence[str] = (PUBLISH_ACTION,),
        key_conditions: _Conditions | None = None,
    ) -> None:
        """Nothing: the topic's owner admits."""


def check_standard_topic(topic: Any, *, scope: Construct, required: bool = False) -> list[Fault]:
    """Check that services may publish to an existing topic: a standard one, in the region of the stack.

    Sources: CloudWatch user guide, notifications of alarms; EventBridge user guide, targets of rules.

    Args:
        topic: The topic.
        scope: Construct that uses it.
        required: Whether ``None`` is refused. By default it passes.
    """
    faults = check_kind(topic, TOPIC, ("topic",), required=required)
    if faults or topic is None:
        return faults
    if topic.fifo:
        message = "must be a standard topic, got a FIFO topic, to which no alarm and no event is sent"
        faults.append(Fault(("topic",), f"{message}; make another, or leave it out"))
    there, here = topic.env.region, Stack.of(scope).region
    return [*faults, *_elsewhere("topic", "region", there, here)]


def check_notices(notices: Any, *, scope: Construct) -> list[Fault]:
    """Check that a construct can tell a topic: one in the region and account of its stack. ``None`` passes.

    Args:
        notices: The topic, of which the policies admit its own account alone.
        scope: Construct that tells it.
    """
    faults = check_kind(notices, NOTICES, ("notices",))
    if faults or notices is None:
        return faults
    topic, stack = notices.topic, Stack.of(scope)
    faults += _elsewhere("notices", "region", topic.env.region, stack.region)
    if notices.key is not None:
        faults += _elsewhere("notices", "account", topic.env.account, stack.account)
    return faults


def _elsewhere(name: str, what: str, there: str, here: str) -> list[Fault]:
    if Token.is_unresolved(there) or Token.is_unresolved(here) or there == here:
        return []
    message = (
        f"must be of the {what} of the stack, {here}, got a topic of {there}, which is told nothing from here"
    )
    return [Fault((name,), f"{message}; make one in this stack")]


def _on_behalf_of(arn: str) -> _Conditions:
    return {"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}, "ArnLike": {"aws:SourceArn": arn}}


def _for_own_topics() -> _Conditions:
    """For services that tell no source: without any condition the key would admit them for every account."""
    # The topic needs the key first, so that the key cannot name the topic.
    own_topics = f"arn:{Aws.PARTITION}:sns:{Aws.REGION}:{Aws.ACCOUNT_ID}:*"
    return {"ArnLike": {TOPIC_ENCRYPTION_CONTEXT: own_topics}}
