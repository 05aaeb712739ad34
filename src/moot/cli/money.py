"""Money as people read it."""

from moot.ledger.usage import DOLLAR


def dollars(cost: int, *, is_estimated: bool = False) -> str:
    """Cents, and as much more as there is: `$0.02`, `~$0.0013`. `cost` is in millionths."""
    whole, _, digits = f"{cost / DOLLAR:,.6f}".partition(".")
    return f"{'~' if is_estimated else ''}${whole}.{digits.rstrip('0').ljust(2, '0')}"
