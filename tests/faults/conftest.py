"""What all of these need."""

from tests.e2e.conftest import wire

__all__ = ["wire"]
