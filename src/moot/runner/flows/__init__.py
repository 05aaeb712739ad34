"""Flows as a host carries them out: the job that advances them, what is done at a step, and who is asked."""
