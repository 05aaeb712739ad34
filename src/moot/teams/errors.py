"""What can be wrong with a team and what is asked of it."""

from moot.core.errors import InvalidInput, MootError


class TeamNotFound(MootError):
    code = "TEAM_NOT_FOUND"


class TeamRefused(InvalidInput):
    """It could not work like that."""

    code = "TEAM_REFUSED"


class ReviewRefused(MootError):
    """Nobody has asked for it."""

    code = "REVIEW_REFUSED"
