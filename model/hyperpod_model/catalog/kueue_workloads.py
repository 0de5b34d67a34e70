"""Words of Kueue's API by which it says which jobs wait and which were preempted."""

from __future__ import annotations

from hyperpod_model.catalog._tables import table

_TABLE = table("kueue_workloads")
_CONDITIONS = _TABLE["conditions"]

GROUP: str = _TABLE["group"]
"""API group; which of its versions a cluster serves, its discovery says."""

WORKLOADS: str = _TABLE["workloads"]
"""Resource that has one object for each job."""

LOCAL_QUEUES: str = _TABLE["local_queues"]
"""Resource of the queues that jobs name, each in the namespace of its team."""

ADMITTED: str = _CONDITIONS["admitted"]
"""Condition: may run. There is none before the first admission; it turns false when that is lost."""

FINISHED: str = _CONDITIONS["finished"]

EVICTED: str = _CONDITIONS["evicted"]
"""Condition: lost its admission, until it has quota again."""

PREEMPTED: str = _CONDITIONS["preempted"]
"""Condition beside the eviction, cleared with it; also the reason of that eviction and of the requeueing."""

REQUEUED: str = _CONDITIONS["requeued"]
"""Condition: may be admitted again. It stays when quota is found, and keeps its time when it is set anew."""
