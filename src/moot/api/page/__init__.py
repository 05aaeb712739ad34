"""What the live page shows and does, one noun a file: windows of what there is, and what a person can do from there."""
