"""An error is a stable code, the fact and the remedy."""

from moot.core.errors import InvalidInput, MootError, NotAllowed


def test_an_error_reads_as_fact_and_remedy() -> None:
    assert str(MootError("It is closed.", "Open it.")) == "It is closed. Open it."
    assert str(MootError("It is closed.")) == "It is closed."


def test_each_error_has_its_code_and_exit_status() -> None:
    assert (InvalidInput.code, InvalidInput.exit_code) == ("INVALID_INPUT", 2)
    assert (NotAllowed.code, NotAllowed.exit_code) == ("NOT_ALLOWED", 1)
