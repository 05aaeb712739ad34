"""Teams: what each part in one is told and may do, and how one is put together from a command and a file."""
