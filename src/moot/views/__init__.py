"""Files people read, written from the store; of these only documents are read back."""
