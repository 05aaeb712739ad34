-- raise_barrier: Write something harmless, so that the frames of a failed commit are overwritten.
update meta set value = value + 1 where key = 'barrier'
