"""Facts about requests."""

from moot.core.errors import InvalidInput, MootError


class RequestNotFound(MootError):
    code = "REQUEST_NOT_FOUND"


class RequestRefused(InvalidInput):
    """This cannot be asked, or not of this one."""

    code = "REQUEST_REFUSED"


class RequestClosed(MootError):
    """It was answered otherwise, cancelled, or its time is up."""

    code = "REQUEST_CLOSED"


class OwnRequest(MootError):
    """Nobody answers what they have asked themselves."""

    code = "OWN_REQUEST"


class NotAddressee(MootError):
    """Somebody else was asked."""

    code = "NOT_ADDRESSEE"


class NotRequester(MootError):
    """Somebody else has asked."""

    code = "NOT_REQUESTER"


class AnswerRefused(InvalidInput):
    """This is no answer to what was asked."""

    code = "ANSWER_REFUSED"


class RequestChanged(MootError):
    """What somebody answers is not what is asked."""

    code = "REQUEST_CHANGED"
