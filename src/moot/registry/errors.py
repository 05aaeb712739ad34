"""Facts about agents and identities."""

from moot.core.errors import InvalidInput, MootError


class AgentNotFound(MootError):
    code = "AGENT_NOT_FOUND"


class InstanceNotFound(MootError):
    code = "INSTANCE_NOT_FOUND"


class NameRefused(InvalidInput):
    """The name is malformed, or kept for moot itself."""

    code = "NAME_REFUSED"


class NameTaken(MootError):
    """Somebody here has the name already."""

    code = "NAME_TAKEN"


class NotAuthenticated(MootError):
    """No token, or one that is not valid (any more)."""

    code = "NOT_AUTHENTICATED"


class AttemptEnded(MootError):
    """This attempt was given up or replaced; what it writes is refused."""

    code = "ATTEMPT_ENDED"


class LinkSpent(MootError):
    """A link to the page that leads nowhere any more."""

    code = "LINK_SPENT"
