"""Runs on the nodes of a cluster: learners compute there, and everything that must last stays on this machine.

The command that plays keeps the ledger and the folders of the runs. A node has a scratch folder, and makes every call
of the protocol through a connection to the command (``node``). Each call brings home what was written to the journal
and to snapshots before it (``folder_changes``), so that the journal at home is never more than one round behind the
ledger: that is what resuming exactly needs. ``cluster_run`` follows one run, and starts it again if its node dies.

``engine`` says what a cluster has to do, and ``ray_engine`` does it with Ray. Nothing else here knows Ray.
"""
