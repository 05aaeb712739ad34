"""What only SQLite needs for searching."""
