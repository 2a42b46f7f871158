"""What can be done with a plan and its steps: above them as code lenses, and among the code actions at them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from odin_lsp.agent.plans import StepStatus, is_plan, steps_of
from odin_lsp.server.host import Host

OF_OPEN: dict[StepStatus, tuple[str, str]] = {
    "skipped": ("Odin: Skip", "Odin: Skip this step"),
    "done": ("Odin: Done", "Odin: Mark this step as done"),
}


@dataclass(frozen=True, slots=True)
class Offer:
    above: str
    """Its title where it stands above what it is about."""
    title: str
    """And where it does not."""
    command: str
    argument: dict[str, Any]
    lines: range | None = None
    """Of the step that it is about; none: of the plan as a whole."""


def offers(server: Host, uri: str) -> Iterator[Offer]:
    """None for a document that is no plan."""
    buffer = server.buffers.of_uri(uri)
    if buffer is None or not buffer.synchronised or not is_plan(buffer.text):
        return
    steps = steps_of(buffer.text)
    if any(step.status == "open" for step in steps):
        yield Offer("Odin: Run the open steps", "Odin: Run the plan", "odin.executePlan", {"uri": uri})
    yield Offer("Odin: Plan on…", "Odin: Change the plan…", "odin.plan.refuse", {"uri": uri})
    for step in steps:
        about = {"uri": uri, "step": step.number}
        lines = range(step.line, step.line + step.text.count("\n") + 1)
        if step.status != "open":
            again = ("Odin: Open again", "Odin: Open this step again")
            yield Offer(*again, "odin.plan.mark", {**about, "status": "open"}, lines)
            continue
        run = {"uri": uri, "steps": [step.number]}
        yield Offer("Odin: Run", "Odin: Run this step", "odin.executePlan", run, lines)
        for status, titles in OF_OPEN.items():
            yield Offer(*titles, "odin.plan.mark", {**about, "status": status}, lines)
