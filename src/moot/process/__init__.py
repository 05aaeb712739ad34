"""Subprocesses: private environment, process groups, deadlines, capped output. Only here one is started."""
