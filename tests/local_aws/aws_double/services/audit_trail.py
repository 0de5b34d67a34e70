"""An audit trail without records: a stand-in for CloudTrail's, which the CDK CLI reads after a failure.

Without an answer the CLI asks again for half a minute.
"""

from __future__ import annotations

from moto.cloudtrail.responses import CloudTrailResponse


def _lookup_events(response: CloudTrailResponse) -> str:
    return '{"Events": []}'


def install() -> None:
    """Answer look-ups from now on."""
    CloudTrailResponse.lookup_events = _lookup_events  # type: ignore[attr-defined]
