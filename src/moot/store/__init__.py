"""The durable store: transactions, events and wake-ups, the same on SQLite and on PostgreSQL."""
