"""The process table as each system offers it; `moot.process.table` says what they answer and picks one."""
