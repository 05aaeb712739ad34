"""Where agents work without getting in each other's way: git worktrees, and their way back into a branch."""
