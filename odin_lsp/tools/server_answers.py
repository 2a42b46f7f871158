"""What MCP servers answer, as the model is told it: data of a stranger, bounded, with its images checked."""

import asyncio
from collections.abc import Sequence

from odin_lsp.formats import images
from odin_lsp.mcp.values import Answered
from odin_lsp.messages import Image
from odin_lsp.tools.base import ToolContext, ToolOutput
from odin_lsp.web.untrusted import fenced, visible

MAX_IMAGES = 8


async def output_of_answer(answered: Answered, what: str, server: str, context: ToolContext) -> ToolOutput:
    """`what` of the server it is. What is too long is in a file that the model may read."""
    output = context.commands.output()
    output.feed(answered.text.encode("utf-8", "replace"))
    output.close()
    context.outside.admit(context.commands.folder)
    text = visible(output.shown)[0] or "(nothing)"
    shown, left_out = await asyncio.to_thread(_images, answered.images, f"{what} of {server}", context)
    return ToolOutput(
        data="\n".join((fenced(text, f"the MCP server {server}"), *left_out)),
        description=f"{what} of {server}: {len(answered.text):,} characters",
        attached=shown,
    )


def _images(sent: Sequence[Image], name: str, context: ToolContext) -> tuple[tuple[Image, ...], list[str]]:
    """Those that the model is shown, and what it is told of the others."""
    if sent and not context.sees:
        return (), [f"({len(sent)} images were left out: you cannot see images)"]
    shown: list[Image] = []
    left_out: list[str] = []
    for it in sent[:MAX_IMAGES]:
        try:
            shown.append(images.image_of(images.decoded(it.data, name), name))
        except images.Unusable as error:
            left_out.append(f"(an image was left out: {error})")
    if len(sent) > MAX_IMAGES:
        left_out.append(f"({len(sent) - MAX_IMAGES} more images were left out)")
    return tuple(shown), left_out
