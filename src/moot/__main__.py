"""`python -m moot`: the same program as `moot`."""

from moot.cli.main import main

main()
