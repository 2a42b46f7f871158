"""What asyncio has to say to nobody fails the test that it comes from: import the hook into a `conftest.py`."""

import logging
from typing import Any

import pytest


class _Complaints(logging.Handler):
    """Exceptions that were never looked at, tasks that were destroyed, generators that could not be closed."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.texts: list[str] = []
        logging.getLogger("asyncio").addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(self.format(record))

    def take(self) -> list[str]:
        texts, self.texts = self.texts, []
        return texts


_complaints = _Complaints()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Any:
    result = yield
    taken = _complaints.take()
    assert taken == [], taken
    return result
