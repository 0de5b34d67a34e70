"""Stand-in for the module that CloudFormation adds to inline functions: it leaves the answer in a file.

The same arguments and the same answer as AWS documents for its module; ``ResponseURL`` is a path here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SUCCESS = "SUCCESS"
FAILED = "FAILED"


def send(
    event: dict[str, Any],
    context: Any,
    responseStatus: str,
    responseData: dict[str, Any],
    physicalResourceId: str | None = None,
    noEcho: bool = False,
    reason: str | None = None,
) -> None:
    """Answer CloudFormation."""
    default_reason = f"See the details in CloudWatch Log Stream: {context.log_stream_name}"
    answer = {
        "Status": responseStatus,
        "Reason": default_reason if reason is None else reason,
        "PhysicalResourceId": context.log_stream_name if physicalResourceId is None else physicalResourceId,
        "StackId": event["StackId"],
        "RequestId": event["RequestId"],
        "LogicalResourceId": event["LogicalResourceId"],
        "NoEcho": noEcho,
        "Data": responseData,
    }
    Path(event["ResponseURL"]).write_text(json.dumps(answer), encoding="utf-8")
