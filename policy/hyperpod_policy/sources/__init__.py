"""Reading what is to be reviewed: templates and manifests, from files, folders and cloud assemblies."""

from hyperpod_policy.sources.loading import Sources, load
from hyperpod_policy.sources.unusable import UnusableInputError

__all__ = ["Sources", "UnusableInputError", "load"]
