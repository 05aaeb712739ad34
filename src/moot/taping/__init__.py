"""Runs on tape: recorded while they go on, and played again without the backends that ran them.

Start with `tape`, the lines of which a recording consists; `tape_file` reads and writes them. `recording.recorder` puts
a run onto a tape, `replaying.player` plays one again, and both do it as a stage (`moot.runner.stage`) of the host. They
do not know each other: all that they share is the tape, and the `chronicle`, which tells as its lines what the store
knows of a run.
"""
