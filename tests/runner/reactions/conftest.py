"""The sandbox is that of the tests of flows."""

from tests.runner.flows.conftest import sandbox

__all__ = ["sandbox"]
