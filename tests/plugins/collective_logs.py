"""Logs of NCCL and aws-ofi-nccl as their sources format them, for tests. No line is from a real job."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class JobLog:
    """What a job's log says.

    Attributes:
        nodes: Pods.
        devices: GPUs a pod.
        network: What NCCL calls its network.
        provider: Libfabric's provider; None where no plugin was loaded.
        nics: Interfaces that the plugin found.
        fabric: Fabric of the provider; None as before aws-ofi-nccl 1.14.
        platform: Instance type without its prefix; None where the plugin names none.
        gpu_direct: Whether GPUDirect RDMA is used.
        connected: Whether connections between nodes were made.
        tuning: Lines of ``NCCL_DEBUG_SUBSYS=TUNING``.
    """

    nodes: int = 2
    devices: int = 2
    network: str = "Libfabric"
    provider: str | None = "efa"
    nics: int = 32
    fabric: str | None = "efa-direct"
    platform: str | None = "p5.48xlarge"
    gpu_direct: bool = True
    connected: bool = True
    tuning: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield its lines, those of all processes one after the other."""
        for node in range(self.nodes):
            for device in range(self.devices):
                begin = f"vision-worker-{node}:{100 + device}:{200 + device} [{device}] NCCL INFO "
                for said in self._process(node, device):
                    yield begin + said

    def text(self) -> str:
        """Return the whole."""
        return "\n".join(self.lines()) + "\n"

    def _process(self, node: int, device: int) -> Iterator[str]:
        rank, ranks = node * self.devices + device, self.nodes * self.devices
        yield f"Bootstrap: Using eth0:10.4.{node}.7<0>"
        yield "NCCL version 2.27.5+cuda12.9"
        if self.provider is not None:
            yield "NET/OFI Initializing aws-ofi-nccl 1.16.3"
            yield "NET/OFI Using Libfabric version 2.1"
            if self.platform is not None:
                yield f"NET/OFI Running on {self.platform} platform, topology file /opt/amazon/p.xml"
            yield "NET/OFI Using transport protocol RDMA (platform set)"
            fabric = "" if self.fabric is None else f", fabric is {self.fabric}"
            word = "Provider" if self.fabric is None else "provider"
            yield f"NET/OFI Selected {word} is {self.provider}{fabric} (found {self.nics} nics)"
        yield f"Using network {self.network}"
        state = "Enabled" if self.gpu_direct else "Disabled"
        yield f"NET/{self.network} : GPU Direct RDMA {state} for HCA 0 'rdmap79s0'"
        yield (
            f"ncclCommInitRankConfig comm 0x5a rank {rank} nranks {ranks} cudaDev {device} nvmlDev {device} "
            "busId 53000 commId 0x1 - Init COMPLETE"
        )
        if self.connected:
            peer = (rank + self.devices) % ranks
            direct = "/GDRDMA" if self.gpu_direct else ""
            yield f"Channel 00/0 : {rank}[{device}] -> {rank + 1}[{device}] via P2P/CUMEM"
            via = f"via NET/{self.network}/{device}{direct}"
            yield f"Channel 01/0 : {rank}[{device}] -> {peer}[0] [send] {via}"
            yield f"Channel 01/0 : {peer}[0] -> {rank}[{device}] [receive] {via}"
            yield "Connected all rings, use ring PXN 0 GDR 1"
            yield "Connected all trees"
        if rank == 0:
            yield from self.tuning
