"""How fast moot is, one file a question: `python -m bench`. Ratios in one run, never against yesterday's clock."""
