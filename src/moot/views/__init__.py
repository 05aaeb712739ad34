"""Files people read, written from the store and never read back."""
