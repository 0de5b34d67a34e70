"""Where to read what a rule's source names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_AWS: Final = "https://docs.aws.amazon.com/"

_GUIDES: Final = {
    "AWS Managed Policy Reference": f"{_AWS}aws-managed-policy/latest/reference/",
    "AWS PrivateLink guide": f"{_AWS}vpc/latest/privatelink/",
    "CloudFormation user guide": f"{_AWS}AWSCloudFormation/latest/UserGuide/",
    "EC2 user guide": f"{_AWS}AWSEC2/latest/UserGuide/",
    "EKS best practices guide": f"{_AWS}eks/latest/best-practices/",
    "EKS user guide": f"{_AWS}eks/latest/userguide/",
    "FSx API reference": f"{_AWS}fsx/latest/APIReference/",
    "FSx for Lustre user guide": f"{_AWS}fsx/latest/LustreGuide/",
    "IAM user guide": f"{_AWS}IAM/latest/UserGuide/",
    "KMS developer guide": f"{_AWS}kms/latest/developerguide/",
    "S3 user guide": f"{_AWS}AmazonS3/latest/userguide/",
    "SageMaker API reference": f"{_AWS}sagemaker/latest/APIReference/",
    "SageMaker developer guide": f"{_AWS}sagemaker/latest/dg/",
    "Service Authorization Reference": f"{_AWS}service-authorization/latest/reference/",
    "VPC user guide": f"{_AWS}vpc/latest/userguide/",
    "developer guide": f"{_AWS}sagemaker/latest/dg/",
}
"""Address of each guide, by the name under which sources cite it."""

_PAGE: Final = re.compile(r"(?<![\w-])[a-z0-9]+(?:-[a-z0-9]+)+(?![\w-])(?= and |,| \(|$)")
"""A page that is cited by the name of its file."""

_OPERATION: Final = re.compile(r"(?<=, )[A-Z][A-Za-z]+|(?<= and )[A-Z][A-Za-z]+")
_TYPE: Final = re.compile(r"AWS::(\w+)::(\w+)")


@dataclass(frozen=True, slots=True)
class Piece:
    """Text, and where it leads.

    Attributes:
        text: What to read.
        address: Where it leads; empty for plain text.
    """

    text: str
    address: str = ""


def linked(source: str) -> list[Piece]:
    """Split a source into text and links: to the pages it names, or else to the guide.

    Args:
        source: As rules have it, such as ``EKS user guide, private-clusters; S3 user guide, endpoints``.
    """
    found: list[Piece] = []
    for number, part in enumerate(source.split("; ")):
        if number:
            found.append(Piece("; "))
        found += _pieces(part)
    return found


def _pieces(part: str) -> Iterator[Piece]:
    links = list(_links(part))
    end = 0
    for first, last, address in links:
        if first > end:
            yield Piece(part[end:first])
        yield Piece(part[first:last], address)
        end = last
    if end < len(part):
        yield Piece(part[end:])


def _links(part: str) -> Iterator[tuple[int, int, str]]:
    guide = next((name for name in _GUIDES if part.startswith(name)), None)
    if guide is None:
        yield from (
            (
                match.start(),
                match.end(),
                f"{_AWS}AWSCloudFormation/latest/TemplateReference/"
                f"aws-resource-{match[1].lower()}-{match[2].lower()}.html",
            )
            for match in _TYPE.finditer(part)
        )
        return
    base = _GUIDES[guide]
    if guide.endswith("API reference"):
        pages = [(match, f"API_{match[0]}.html") for match in _OPERATION.finditer(part, len(guide))]
    elif guide == "AWS Managed Policy Reference":
        pages = [(match, f"{match[0]}.html") for match in _OPERATION.finditer(part, len(guide))]
    else:
        pages = [(match, f"{match[0]}.html") for match in _PAGE.finditer(part, len(guide))]
    if pages:
        yield from ((match.start(), match.end(), base + page) for match, page in pages)
    else:
        yield 0, len(guide), base
