"""Whether a provider says that an account is used up, which no waiting helps, and not that it is asked too fast."""

import re

REMEDY = "Add credit or raise the limit of the account, or choose another model, then run it again."
_SPENT = re.compile(
    r"exceeded your current quota|insufficient.?quota|usage limit|credit balance is too low|billing_error"
    r"|(?:out of|no) credits|billing.{0,20}limit",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"(?:try again|retry|resets?|come back|available again)\b[^.\n]{0,30}\b(?:at|in|on|after)\b[^.\n]{0,20}\d"
    r"|\"?retry_?(?:after|delay)\"?[^\n]{0,10}\d|\|\s*\d{9,}",
    re.IGNORECASE,
)


def is_spent(message: str) -> bool:
    """One that says when to come back is to be waited for."""
    return _SPENT.search(message) is not None and _WHEN.search(message) is None
