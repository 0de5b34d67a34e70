"""Weakenings by what a template does not have: a property or a resource that opens what others guard."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mutants.mutant import Mutant, Template, at, mutant
from mutants.principals import ANOTHER_ACCOUNT, OWN_ROLE, ROLE_OF_ANOTHER

_PROPERTIES: Mapping[str, Mapping[str, tuple[tuple[str, ...], Any]]] = {
    "AWS::S3::Bucket": {
        "a public ACL": (("AccessControl",), "PublicRead"),
        "an ACL that lets everybody write": (("AccessControl",), "PublicReadWrite"),
        "a website": (("WebsiteConfiguration",), {"IndexDocument": "index.html"}),
        "a name that others can guess": (("BucketName",), {"Fn::Sub": "training-${AWS::AccountId}"}),
        "copies in another account": (
            ("ReplicationConfiguration",),
            {
                "Role": OWN_ROLE,
                "Rules": [
                    {
                        "Status": "Enabled",
                        "Destination": {
                            "Bucket": "arn:aws:s3:::somebodys-bucket",
                            "Account": ANOTHER_ACCOUNT,
                        },
                    }
                ],
            },
        ),
        "an inventory for another account": (
            ("InventoryConfigurations",),
            [
                {
                    "Id": "all",
                    "Enabled": True,
                    "IncludedObjectVersions": "All",
                    "ScheduleFrequency": "Daily",
                    "Destination": {
                        "BucketArn": "arn:aws:s3:::somebodys-bucket",
                        "BucketAccountId": ANOTHER_ACCOUNT,
                        "Format": "CSV",
                    },
                }
            ],
        ),
    },
    "AWS::IAM::Role": {
        "an inline policy for everything": (
            ("Policies",),
            [
                {
                    "PolicyName": "everything",
                    "PolicyDocument": {"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]},
                }
            ],
        ),
    },
    "AWS::KMS::Key": {
        "a short way to its deletion": (("PendingWindowInDays",), 7),
        "no use": (("Enabled",), False),
    },
    "AWS::EC2::Subnet": {"public addresses": (("MapPublicIpOnLaunch",), True)},
    "AWS::EKS::Cluster": {
        "an open API": (("ResourcesVpcConfig", "EndpointPublicAccess"), True),
        "its creator as administrator": (("AccessConfig", "BootstrapClusterCreatorAdminPermissions"), True),
    },
    "AWS::FSx::FileSystem": {"EFA": (("LustreConfiguration", "EfaEnabled"), True)},
}

_MANAGED = ("AdministratorAccess", "AmazonS3FullAccess", "PowerUserAccess", "AmazonSSMFullAccess")

_BUCKET_RULES: Mapping[str, Mapping[str, Any]] = {
    "expiry of current objects": {"Status": "Enabled", "ExpirationInDays": 1},
    "an archive of current objects": {
        "Status": "Enabled",
        "Transitions": [{"StorageClass": "DEEP_ARCHIVE", "TransitionInDays": 1}],
    },
    "expiry of versions after a day": {
        "Status": "Enabled",
        "NoncurrentVersionExpiration": {"NoncurrentDays": 1},
    },
}


def addition_mutants(template: Template) -> Iterator[Mutant]:
    for name, resource in template["Resources"].items():
        kind = resource["Type"]
        for words, (path, value) in _PROPERTIES.get(kind, {}).items():
            if not _has(resource["Properties"], path, value):
                yield mutant(template, name, path, f"gets {words}", value)
        if kind == "AWS::IAM::Role":
            listed = resource["Properties"].get("ManagedPolicyArns", [])
            for policy in _MANAGED:
                arn = {"Fn::Sub": f"arn:${{AWS::Partition}}:iam::aws:policy/{policy}"}
                yield mutant(template, name, ("ManagedPolicyArns",), f"gets {policy}", [*listed, arn])
        if kind == "AWS::S3::Bucket":
            path = ("LifecycleConfiguration", "Rules")
            listed = at(resource["Properties"], path)
            for words, rule in _BUCKET_RULES.items():
                yield mutant(template, name, path, f"gets {words}", [*listed, dict(rule)])
        if kind == "AWS::Lambda::Function":
            layers = resource["Properties"].get("Layers", [])
            foreign = f"arn:aws:lambda:us-west-2:{ANOTHER_ACCOUNT}:layer:somebodys:1"
            yield mutant(template, name, ("Layers",), "gets a layer of another account", [*layers, foreign])
        if kind == "AWS::SageMaker::Cluster":
            yield from _other_networks(template, name)
        for words, added_kind, properties in _joining(template, name):
            edits = (((f"Added{name}",), {"Type": added_kind, "Properties": properties}),)
            yield Mutant(name, kind, (), f"is joined by {words}", edits)


def _has(properties: Mapping[str, Any], path: tuple[str, ...], value: Any) -> bool:
    """Whether the property is there already: then it has mutants of its own."""
    place: Any = properties
    for step in path:
        if step not in place:
            return False
        place = place[step]
    return True


def _other_networks(template: Template, name: str) -> Iterator[Mutant]:
    groups = template["Resources"][name]["Properties"]["InstanceGroups"]
    own = template["Resources"][name]["Properties"]["VpcConfig"]
    public = [other for other in template["Resources"] if other.startswith("NetworkPublicSubnet")]
    for position, _ in enumerate(groups):
        path = ("InstanceGroups", position, "OverrideVpcConfig")
        for words, value in (
            ("the public subnet", {**own, "Subnets": [{"Ref": public[0]}]}),
            ("another's subnet", {**own, "Subnets": ["subnet-0123456789abcdef0"]}),
            ("another's group", {**own, "SecurityGroupIds": ["sg-0123456789abcdef0"]}),
        ):
            yield mutant(template, name, path, f"gets {words}", value)


def _joining(template: Template, name: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Resources that open a resource without touching it."""
    resource = template["Resources"][name]
    found = _JOINING.get(resource["Type"])
    if found is not None:
        yield from found(template, name)


Joined = Iterator[tuple[str, str, dict[str, Any]]]


def _to_bucket(template: Template, name: str) -> Joined:
    objects = {"Fn::Sub": f"${{{name}.Arn}}/*"}
    for words, principal in (("everybody", "*"), ("another account", {"AWS": ROLE_OF_ANOTHER})):
        statement = {"Effect": "Allow", "Principal": principal, "Action": "s3:*", "Resource": objects}
        document = {"Statement": [statement]}
        yield (
            f"a second policy for {words}",
            "AWS::S3::BucketPolicy",
            {"Bucket": {"Ref": name}, "PolicyDocument": document},
        )
    role_policy = {
        "PolicyName": "writer",
        "Roles": [{"Ref": _node_role(template)}],
        "PolicyDocument": {
            "Statement": [{"Effect": "Allow", "Action": "s3:PutObject*", "Resource": objects}]
        },
    }
    yield "a policy that lets the nodes write it", "AWS::IAM::Policy", role_policy


def _node_role(template: Template) -> str:
    (cluster,) = [one for one in template["Resources"].values() if one["Type"] == "AWS::SageMaker::Cluster"]
    role: str = cluster["Properties"]["InstanceGroups"][0]["ExecutionRole"]["Fn::GetAtt"][0]
    return role


def _to_role(template: Template, name: str) -> Joined:
    for words, action in (
        ("everything", "*"),
        ("all of S3", "s3:*"),
        ("the passing of roles", "iam:PassRole"),
    ):
        document = {"Statement": [{"Effect": "Allow", "Action": action, "Resource": "*"}]}
        yield (
            f"a policy for {words}",
            "AWS::IAM::Policy",
            {"PolicyName": "more", "Roles": [{"Ref": name}], "PolicyDocument": document},
        )


def _to_function(template: Template, name: str) -> Joined:
    for words, principal in (("everybody", "*"), ("another account", ANOTHER_ACCOUNT)):
        yield (
            f"permission for {words}",
            "AWS::Lambda::Permission",
            {"FunctionName": {"Ref": name}, "Action": "lambda:InvokeFunction", "Principal": principal},
        )
    yield (
        "an open URL",
        "AWS::Lambda::Url",
        {"TargetFunctionArn": {"Ref": name}, "AuthType": "NONE"},
    )


def _to_route_table(template: Template, name: str) -> Joined:
    (gateway,) = [
        other for other, one in template["Resources"].items() if one["Type"] == "AWS::EC2::InternetGateway"
    ]
    for words, way in (
        ("a route to the internet", {"DestinationCidrBlock": "128.0.0.0/1", "GatewayId": {"Ref": gateway}}),
        (
            "an IPv6 route to the internet",
            {"DestinationIpv6CidrBlock": "::/0", "GatewayId": {"Ref": gateway}},
        ),
        (
            "a route to another VPC",
            {"DestinationCidrBlock": "172.16.0.0/12", "VpcPeeringConnectionId": "pcx-0123456789abcdef0"},
        ),
    ):
        yield words, "AWS::EC2::Route", {"RouteTableId": {"Ref": name}, **way}


def _to_network_acl(template: Template, name: str) -> Joined:
    for words, cidr in (("IPv4", {"CidrBlock": "0.0.0.0/0"}), ("IPv6", {"Ipv6CidrBlock": "::/0"})):
        entry = {"NetworkAclId": {"Ref": name}, "RuleNumber": 1, "RuleAction": "allow", "Protocol": -1}
        yield f"an {words} entry for all before the others", "AWS::EC2::NetworkAclEntry", {**entry, **cidr}


def _to_security_group(template: Template, name: str) -> Joined:
    group = {"GroupId": {"Fn::GetAtt": [name, "GroupId"]}}
    for words, rule in (
        ("everything from everywhere", {"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}),
        ("everything from the VPC", {"IpProtocol": "-1", "CidrIp": "10.0.0.0/16"}),
        (
            "everything from another group",
            {"IpProtocol": "-1", "SourceSecurityGroupId": "sg-0123456789abcdef0"},
        ),
        (
            "9200/tcp from a range",
            {"IpProtocol": "tcp", "FromPort": 9000, "ToPort": 9300, "CidrIp": "10.0.0.0/8"},
        ),
    ):
        yield words, "AWS::EC2::SecurityGroupIngress", {**group, **rule}
    yield (
        "everything to everywhere",
        "AWS::EC2::SecurityGroupEgress",
        {**group, "IpProtocol": "-1", "CidrIp": "0.0.0.0/0"},
    )


def _to_control_plane(template: Template, name: str) -> Joined:
    policy = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
    for words, principal in (("a role", OWN_ROLE), ("a role of another account", ROLE_OF_ANOTHER)):
        yield (
            f"{words} as administrator",
            "AWS::EKS::AccessEntry",
            {
                "ClusterName": {"Ref": name},
                "PrincipalArn": principal,
                "AccessPolicies": [{"AccessScope": {"Type": "cluster"}, "PolicyArn": policy}],
            },
        )
    yield (
        "masters",
        "AWS::EKS::AccessEntry",
        {"ClusterName": {"Ref": name}, "PrincipalArn": OWN_ROLE, "KubernetesGroups": ["system:masters"]},
    )


def _to_pod_role(template: Template, name: str) -> Joined:
    association = template["Resources"][name]["Properties"]
    for namespace, account in (
        ("default", association["ServiceAccount"]),
        (association["Namespace"], "default"),
    ):
        yield (
            f"the service account {account} of {namespace}",
            "AWS::EKS::PodIdentityAssociation",
            {**association, "Namespace": namespace, "ServiceAccount": account},
        )


def _to_file_system(template: Template, name: str) -> Joined:
    yield (
        "an export to another's bucket",
        "AWS::FSx::DataRepositoryAssociation",
        {
            "FileSystemId": {"Ref": name},
            "FileSystemPath": "/all",
            "DataRepositoryPath": "s3://somebodys-bucket/all",
            "S3": {"AutoExportPolicy": {"Events": ["NEW", "CHANGED", "DELETED"]}},
        },
    )


_JOINING: Mapping[str, Callable[[Template, str], Joined]] = {
    "AWS::S3::Bucket": _to_bucket,
    "AWS::IAM::Role": _to_role,
    "AWS::Lambda::Function": _to_function,
    "AWS::EC2::RouteTable": _to_route_table,
    "AWS::EC2::NetworkAcl": _to_network_acl,
    "AWS::EC2::SecurityGroup": _to_security_group,
    "AWS::EKS::Cluster": _to_control_plane,
    "AWS::EKS::PodIdentityAssociation": _to_pod_role,
    "AWS::FSx::FileSystem": _to_file_system,
}
