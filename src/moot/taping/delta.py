"""What a request to a model has that the one before had not, and that is no answer of the model itself."""

from moot.core.records import record
from moot.models.model import Answer, Request, Result, Results


@record
class Delta:
    words: str
    results: tuple[Result, ...]


def since(request: Request, messages: int) -> Delta:
    """Behind so many messages. Sessions only ever add to a conversation."""
    new = [one for one in request.messages[messages:] if not isinstance(one, Answer)]
    results = tuple(result for one in new if isinstance(one, Results) for result in one.results)
    return Delta("\n\n".join(one.text for one in new if one.text), results)
