"""The sections of a workflow file that the engine runs, one in each module."""
