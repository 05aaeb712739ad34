"""What an attempt has used, where programs count from the beginning of their conversation."""

from moot.backends.backend import Conversation, Usage


def since(total: Usage, before: Conversation | None) -> Usage:
    """What came after the conversation's last attempt. A program that counts less than before has begun anew."""
    if before is None:
        return total
    used = before.used
    if total.input_tokens < used.input_tokens or total.output_tokens < used.output_tokens:
        return total
    return Usage(
        total.input_tokens - used.input_tokens,
        total.output_tokens - used.output_tokens,
        total.turns - used.turns if total.turns >= used.turns else total.turns,
        max(0.0, total.cost - used.cost),
        total.is_estimated,
    )
