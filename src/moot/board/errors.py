"""Facts about plans and tasks."""

from moot.core.errors import InvalidInput, MootError


class WorkflowNotFound(MootError):
    code = "WORKFLOW_NOT_FOUND"


class TaskNotFound(MootError):
    code = "TASK_NOT_FOUND"


class InvalidTransition(MootError):
    """From its state there is no way to the one that was asked for."""

    code = "INVALID_TRANSITION"


class ClaimLost(MootError):
    """Whoever writes is not, or no more, the one who holds the task."""

    code = "CLAIM_LOST"


class PlanRefused(InvalidInput):
    """The plan cannot be carried out as it is written; nothing was changed."""

    code = "INVALID_PLAN"
