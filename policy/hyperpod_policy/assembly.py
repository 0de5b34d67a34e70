"""Templates of a cloud assembly, with the nested stacks that CDK keeps in files of their own."""

from __future__ import annotations

from pathlib import Path

from hyperpod_policy.documents import Document
from hyperpod_policy.sources.templates import TemplateReader


def read_stack(template: Path, *, region: str | None = None, account: str | None = None) -> Document:
    """Read the template of a stack, and those of its nested stacks.

    A nested stack's template is found by the asset manifest beside the template, in the metadata that
    ``LegacyStackSynthesizer`` leaves (in a file beside the template or in the assembly's manifest), or by the
    resource's metadata that the CDK CLI asks for. One that is not found stays out, and a review says so.

    Args:
        template: Template file, such as ``cdk.out/MyStack.template.json``.
        region: Region of the stack. By default unknown.
        account: Account id of the stack. By default unknown.

    Raises:
        UnusableInputError: A `ValueError`, if the file or that of a nested stack cannot be read, or is no
            template.
    """
    return TemplateReader(region=region, account=account).read(template)
