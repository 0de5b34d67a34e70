"""The clusters of the demo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from hyperpod_constructs.app_context import app_context
from hyperpod_model.cluster_spec import ClusterSpec, load_cluster

EXAMPLES: Final[Mapping[str, Path]] = {
    "slurm": Path("examples/clusters/llm-train.yaml"),
    "eks": Path("examples/clusters/llm-train-eks.yaml"),
}
"""The usual clusters, by the name of the folder that each goes into."""

ADAPTED: Final = "with-stand-ins.json"
"""File of a cluster, in its folder, that names stand-ins in place of what does not exist."""

READ_FROM_CONTEXT: Final = frozenset({"availability_zone_id", "region", "strict"})
"""Context that is part of what is read from a file."""

_USUAL_REGION = "us-west-2"


@dataclass(frozen=True, kw_only=True)
class DemoCluster:
    """A cluster to synthesize and deploy.

    Attributes:
        folder: Name of its folder.
        file: A specification or a ``CreateCluster`` request.
        spec: What it says.
        notes: What its author should know.
        context: Context of the app beside the file, such as a region for a request.
    """

    folder: str
    file: Path
    spec: ClusterSpec
    notes: tuple[str, ...] = ()
    context: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: str, file: Path, context: Mapping[str, str]) -> Self:
        """Read a file as the app does.

        Args:
            folder: Name of its folder.
            file: The file.
            context: Context of the app.

        Raises:
            InvalidInputError: With all faults of the file.
        """
        said = app_context(context)
        loaded = load_cluster(
            file, strict=said.strict, region=said.region, availability_zone_id=said.availability_zone_id
        )
        return cls(folder=folder, file=file, spec=loaded.spec, notes=loaded.notes, context=context)

    @property
    def region(self) -> str:
        """The region that it goes to."""
        return _USUAL_REGION if self.spec.region is None else self.spec.region

    def said(self) -> dict[str, str]:
        """Return the context by which the app knows of it."""
        return {"cluster": str(self.file), **self.context}

    def arguments(self) -> list[str]:
        """Return the arguments by which the CDK CLI tells the app of it."""
        return [part for name, value in self.said().items() for part in ("--context", f"{name}={value}")]
