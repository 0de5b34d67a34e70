"""Runs the bundle's scripts for real on a node whose files lie under a folder.

* :mod:`node_scripts.node`: the node: its files, the bundle as S3 delivers it, and how a script is run there.
* :mod:`node_scripts.scenarios`: the kinds of node that the scripts are run on, and with which parameters.
* :mod:`node_scripts.machine` and :mod:`node_scripts.slurm_nodes`: what these nodes are made of.
* :mod:`node_scripts.trees`: what is on a node, byte for byte, and what differs.
* :mod:`node_scripts.lines`: follows a script line by line, and kills it before a given one.
* ``stand_ins/``: stand-ins for system programs, one file a program. A program that is neither there nor among
  ``node.REAL_PROGRAMS`` is not found, so that no test changes the machine that it runs on.

A new script needs nothing here: tests run whatever is in the folder. A script that calls another system
program needs a stand-in for it, which keeps its state under ``$PROVISION_ROOT``; one that reads other
parameters, their values in a scenario.
"""
