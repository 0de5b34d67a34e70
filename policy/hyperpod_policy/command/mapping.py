"""The trust map, as `--trust-map` shows it."""

from __future__ import annotations

import json
from argparse import Namespace

from hyperpod_policy.sources import Sources
from hyperpod_policy.trust_map import trust_map


def mapped(sources: Sources, options: Namespace) -> str:
    """Return who can run code on the training nodes, as text or JSON."""
    found = trust_map(sources.documents, checkpoint_buckets=options.checkpoint_bucket)
    if options.format == "json":
        return json.dumps(found.to_json(), indent=2) + "\n"
    return found.text() + "\n"
