"""The program `moot`: one file a command, imported only when it is called."""
