"""Facts about messages."""

from moot.core.errors import InvalidInput, MootError


class MessageNotFound(MootError):
    code = "MESSAGE_NOT_FOUND"


class MessageEmpty(InvalidInput):
    code = "MESSAGE_EMPTY"


class NothingToAcknowledge(MootError):
    """The id, number or time names nothing that was handed to this agent."""

    code = "NOTHING_TO_ACKNOWLEDGE"
