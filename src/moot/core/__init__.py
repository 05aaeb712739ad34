"""Words everything else is made of: ids, time, errors, JSON, events, callers and the contracts at the seams."""
