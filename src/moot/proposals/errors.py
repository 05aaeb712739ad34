"""Facts about proposals and votes."""

from moot.core.errors import InvalidInput, MootError


class ProposalNotFound(MootError):
    code = "PROPOSAL_NOT_FOUND"


class ProposalRefused(InvalidInput):
    """What was proposed cannot be voted on."""

    code = "PROPOSAL_REFUSED"


class ProposalClosed(MootError):
    """It is resolved, expired or cancelled, or its time is up."""

    code = "PROPOSAL_CLOSED"


class OptionUnknown(InvalidInput):
    code = "OPTION_UNKNOWN"


class NotAnElector(MootError):
    """Who may vote was fixed when the proposal was made."""

    code = "NOT_AN_ELECTOR"


class AlreadyVoted(MootError):
    """Votes are final."""

    code = "ALREADY_VOTED"


class NotTied(MootError):
    """There is nothing for the creator to decide."""

    code = "NOT_TIED"
