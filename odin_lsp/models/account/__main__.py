"""`python -m odin_lsp.models.account`: one question on stdin, one answer on stdout."""

import asyncio
import json
import os
import sys
import threading
from importlib import import_module
from typing import Protocol, cast

from odin_lsp.errors import KeyRejected, ModelError, ModelUnavailable
from odin_lsp.models.account.questions import Answered, Question
from odin_lsp.models.platforms.known import PLATFORMS
from odin_lsp.values import from_wire, to_wire


class Account(Protocol):
    """What the module of an SDK offers."""

    async def answer(self, question: Question) -> Answered: ...


def main() -> None:
    question = from_wire(Question, json.loads(sys.stdin.buffer.readline()))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    answered = asyncio.run(_answer(question))  # noqa: TID251 - it starts no program, and nobody else waits for its loop
    json.dump(to_wire(answered), sys.stdout)
    sys.stdout.flush()
    os._exit(0)  # the thread still reads


async def _answer(question: Question) -> Answered:
    is_gemini = question.provider == "google" or question.model.startswith("gemini")
    try:
        account = cast("Account", import_module(f"odin_lsp.models.account.by_{'genai' if is_gemini else 'anthropic'}"))
        return await account.answer(question)
    except KeyRejected as error:
        return Answered(problem=str(error), kind="refused")
    except ModelUnavailable as error:
        return Answered(problem=str(error), kind="unreachable")
    except ModelError as error:
        return Answered(problem=str(error), kind="refused" if question.provider in PLATFORMS else "unknown")


def _end_with_parent() -> None:
    """Nothing more is written to stdin: it ends when whoever asks does, or has given up."""
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    main()
