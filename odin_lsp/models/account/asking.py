"""Ask the process that has an SDK. Keys go by its stdin, and it ends with whoever has started it."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import cast

from odin_lsp.config import Config
from odin_lsp.errors import KeyRejected, ModelError, ModelUnavailable
from odin_lsp.models.account.questions import AccountModel, Answered, Question
from odin_lsp.models.selection import KEY_VARIABLES
from odin_lsp.tasks import end_process
from odin_lsp.values import from_wire, to_wire

PROCESS = (sys.executable, "-I", "-X", "utf8", "-m", "odin_lsp.models.account")
SECONDS = 30.0
MAX_BYTES = 4 * 1024 * 1024
"""Of an answer."""
MAX_WORDS = 200
ADVICE: Mapping[str, str] = {
    "refused": "check the key",
    "unreachable": "check the network and the proxy, and try again",
    "unknown": "try again later, or name a model yourself",
}
"""What to do where models are not listed, by the kind of the problem."""


def question(what: str, provider: str, key: str, config: Config, **more: object) -> Question:
    told: Mapping[str, object] = {
        "what": what,
        "provider": provider,
        "key": key,
        "network": config.network.model_dump(mode="json"),
        "platforms": config.platforms.model_dump(mode="json", by_alias=True),
        **more,
    }
    return from_wire(Question, dict(told))


async def ask(question: Question, seconds: float = SECONDS) -> Answered:
    """`ModelUnavailable` if there is no answer in time."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *PROCESS, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL, env=_environment()
    )
    to_process, from_process = cast("asyncio.StreamWriter", process.stdin), cast("asyncio.StreamReader", process.stdout)
    try:
        async with asyncio.timeout(seconds):
            to_process.write(await asyncio.to_thread(lambda: json.dumps(to_wire(question)).encode() + b"\n"))
            await to_process.drain()
            said = await _read(from_process)
            return await asyncio.to_thread(lambda: from_wire(Answered, json.loads(said)))
    except TimeoutError:
        raise ModelUnavailable(f"{question.provider} did not answer within {seconds:g} seconds; try again") from None
    except (OSError, ValueError):
        raise ModelUnavailable(f"the process that asks {question.provider} failed; run `odin-lsp doctor`") from None
    finally:
        to_process.close()
        await end_process(process)


async def list_models(provider: str, key: str, config: Config) -> tuple[AccountModel, ...]:
    """Those that the account may use; a `ModelError` says why there are none to be had, and what to do."""
    return listed(await ask(question("list", provider, key, config)), key)


def listed(answered: Answered, key: str) -> tuple[AccountModel, ...]:
    """`KeyRejected` for a wrong key, `ModelUnavailable` for every other problem."""
    if answered.problem:
        raise _fault(answered, f"{quoted(answered.problem, key)}; {ADVICE[answered.kind]}")
    return answered.models


async def check_platform(platform: str, model: str, config: Config) -> Answered:
    """Whether there are credentials for it that it accepts, as far as that is known without a turn."""
    try:
        return await ask(question("check", platform, "", config, model=model))
    except ModelUnavailable as error:
        return Answered(problem=str(error), kind="unreachable")


async def count_tokens(provider: str, model: str, body: bytes, key: str, config: Config) -> int:
    """How many tokens a request has, as its provider counts; a `ModelError` if it does not."""
    asked = await asyncio.to_thread(
        lambda: question("count", provider, key, config, model=model, body=json.loads(body))
    )
    answered = await ask(asked)
    if answered.tokens is None:
        advice = f"; {ADVICE[answered.kind]}" if key and answered.kind in ("refused", "unreachable") else ""
        said = quoted(answered.problem, key) or f"{provider} does not count tokens"
        raise _fault(answered, f"{said}{advice}")
    return answered.tokens


def _fault(answered: Answered, words: str) -> ModelError:
    return (KeyRejected if answered.kind == "refused" else ModelUnavailable)(words)


def quoted(words: str, key: str) -> str:
    """What a provider says, for people: short, and without the key."""
    return " ".join((words.replace(key, "[key]") if key else words).split())[:MAX_WORDS]


def _environment() -> dict[str, str]:
    """Without keys: the one that counts is in the question."""
    keys = {name for names in KEY_VARIABLES.values() for name in names}
    return {name: value for name, value in os.environ.items() if name not in keys}


async def _read(stdout: asyncio.StreamReader) -> bytes:
    said = bytearray()
    while piece := await stdout.read(65_536):
        said += piece
        if len(said) > MAX_BYTES:
            raise ValueError("the answer is too long")
    return bytes(said)
