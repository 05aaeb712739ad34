"""Tools for the files of one directory and for commands that start there."""
