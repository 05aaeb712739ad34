"""The files of a team under `.codex-teams/<session>/`: written from the store, never read back as truth."""
