"""Facts about SageMaker HyperPod and the AWS services around it, as data with a source and a date.

Every table is a JSON file under ``data/`` that states its ``source`` and ``checked_on``; a module beside it
reads the table and types it. A fact that the sources leave in doubt is a :class:`Fact` that refuses to be
read until the reader says how the doubt is treated.
"""

from __future__ import annotations

from hyperpod_model.catalog.fact import Claim, Fact, UncertainFactError, UnknownNameError

__all__ = ["Claim", "Fact", "UncertainFactError", "UnknownNameError"]
