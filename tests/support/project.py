"""A project whose settings a test says, and a core for it."""

from odin_lsp.agent.core import Core
from odin_lsp.project.project import Project, Told


def core_of(root, editor, config, **parts):
    return Core(Project(Told(roots=(root,)), load=lambda *_: (config, ())), editor, **parts)


async def take(core, message):
    """The outcome of a turn in the current session."""
    return await (await core.sessions.take_up(None)).turns.start(message).outcome()
