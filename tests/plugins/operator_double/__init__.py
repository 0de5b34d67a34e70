"""A double of what runs a job's pods: both operators and the kubelet. A stand-in, on one machine.

It takes rendered objects and runs the command of their container as it stands, with the environment that the
operators document. What differs from a cluster:

- All pods share one machine and its loopback: the names of the operator's services are 127.0.0.1 here, and
  ports are free ones.
- There are no images: folders of the container are folders here, in the command and in the environment.
- Nothing is scheduled, and limits of resources are not held.

The Kubeflow operator is done from its source, 1.7 to 1.9 (``pkg/controller.v1/pytorch``). That of HyperPod is
closed: its side is done from what its public agent, PyPI hyperpod-elastic-agent 1.1.3, serves and reads.
"""

from __future__ import annotations

from operator_double.hyperpod import HyperPodOperator
from operator_double.kubeflow import kubeflow_pods
from operator_double.kubelet import Ended, Machine, Pod, terminate
from operator_double.variables import expand

__all__ = ["Ended", "HyperPodOperator", "Machine", "Pod", "expand", "kubeflow_pods", "terminate"]
