import pytest
from fake_account import FakeAccount, of_things, thing

from aws_double.cloudformation.errors import Refused
from aws_double.cloudformation.order import Node, creation, deletion


def nodes(**needs: str) -> dict[str, Node]:
    """Return nodes by name: their type, and after a colon the names of what they depend on."""
    found = {}
    for name, said in needs.items():
        type_name, _, depends_on = said.partition(" : ")
        found[name] = Node(type=type_name, depends_on=frozenset(depends_on.split()))
    return found


def test_a_cluster_comes_as_early_as_its_dependencies_allow() -> None:
    given = nodes(
        Vpc="AWS::EC2::VPC",
        Subnet="AWS::EC2::Subnet : Vpc",
        Policy="AWS::IAM::Policy : Role",
        Role="AWS::IAM::Role",
        Cluster="AWS::SageMaker::Cluster : Subnet Role",
    )

    assert creation(given)[3] == "Cluster"
    assert set(creation(given)[:3]) == {"Vpc", "Subnet", "Role"}


def test_within_what_a_cluster_needs_the_file_system_comes_first() -> None:
    given = nodes(
        Subnet="AWS::EC2::Subnet",
        Rules="AWS::EC2::SecurityGroupIngress",
        Files="AWS::FSx::FileSystem : Subnet",
        Cluster="AWS::SageMaker::Cluster : Files Rules",
    )

    assert creation(given) == ["Subnet", "Files", "Rules", "Cluster"]


def test_what_needs_the_least_and_comes_last_in_the_template_is_created_first() -> None:
    given = nodes(A="T", B="T : A", C="T")

    assert creation(given) == ["C", "A", "B"]


def test_policies_go_before_what_uses_them_unless_that_says_so() -> None:
    forgotten = nodes(Role="AWS::IAM::Role", Policy="AWS::IAM::Policy : Role", Job="Custom::Job : Role")
    declared = forgotten | nodes(Job="Custom::Job : Role Policy")

    assert deletion(forgotten) == ["Policy", "Job", "Role"]
    assert deletion(declared) == ["Job", "Policy", "Role"]


def test_a_cluster_is_deleted_last_where_nothing_says_otherwise() -> None:
    given = nodes(
        Cluster="AWS::SageMaker::Cluster", Bucket="AWS::S3::Bucket", Subnet="AWS::EC2::Subnet", Log="T"
    )

    assert deletion(given) == ["Subnet", "Log", "Bucket", "Cluster"]


@pytest.mark.parametrize("order", [creation, deletion])
def test_every_order_respects_what_is_declared(order: object) -> None:
    given = nodes(
        A="Custom::A : B C", B="AWS::IAM::Role : C", C="T", D="AWS::EC2::VPC : A", E="T : Elsewhere"
    )
    found = creation(given) if order is creation else list(reversed(deletion(given)))

    assert sorted(found) == ["A", "B", "C", "D", "E"]
    for name, node in given.items():
        assert all(found.index(one) < found.index(name) for one in node.depends_on & given.keys())


def test_circles_are_refused() -> None:
    with pytest.raises(Refused, match=r"Circular dependency between resources: \[A, B\]"):
        creation(nodes(A="T : B", B="T : A", C="T"))


def test_a_forgotten_dependency_fails_the_stack(account: FakeAccount) -> None:
    needy = thing("Job", "Custom::Fake", needs=["Policy"])

    stack = account.deploy("forgotten", of_things("Policy", Job=needy))

    assert stack.status == "ROLLBACK_COMPLETE"
    assert "create Policy" not in account.calls
    assert any(event.get("ResourceStatusReason") == "no Policy" for event in stack.events)


@pytest.mark.parametrize("declared", [{"DependsOn": "Policy"}, {"text": {"Ref": "Policy"}}])
def test_the_same_with_the_dependency_declared_passes(
    account: FakeAccount, declared: dict[str, object]
) -> None:
    needy = thing("Job", "Custom::Fake", needs=["Policy"], **declared)

    stack = account.deploy("declared", of_things("Policy", Job=needy))

    assert stack.status == "CREATE_COMPLETE"
    assert account.calls == ["create Policy", "create Job"]
