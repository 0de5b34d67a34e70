"""A real Slurm with a few nodes on this machine, for tests.

    with LocalSlurm(nodes=5, gpus=8) as slurm:
        job = slurm.submit("job.sbatch")
        slurm.kill_node("ip-10-1-2-3")

Real: ``slurmctld``, ``slurmd``, ``munged`` and the client commands, of version 22.05 on Debian 12. Stand-ins,
each labelled as one: a :mod:`machine <local_slurm.machine_stand_in>` is a group of processes and no instance,
its GPUs are empty files, and what is AWS's own is in :mod:`local_slurm.hyperpod_stand_in`.
"""

from local_slurm.cluster import LocalSlurm, needs_slurm

__all__ = ["LocalSlurm", "needs_slurm"]
