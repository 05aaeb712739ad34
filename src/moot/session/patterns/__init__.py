"""How agents work together: what goes from one to the other, and who has the last word."""
