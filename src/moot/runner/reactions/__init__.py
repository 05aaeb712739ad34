"""What follows from an event: each reaction writes jobs and nothing else, in the transaction that moves the mark."""
