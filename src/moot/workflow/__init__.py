"""Workflow files: what people write, checked and made into plain records. Nothing is run here."""
