"""What agents say to each other: messages, mentions, mailboxes and receipts."""
