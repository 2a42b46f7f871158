"""Keep a list of what is to be done."""

from typing import Annotated, Literal

from pydantic import Field

from odin_lsp.errors import ToolError
from odin_lsp.events import TodosChanged
from odin_lsp.permissions.rules import Effect
from odin_lsp.records import Todo
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput


class TodoItem(Params):
    id: str
    content: Annotated[str, Field(min_length=1)]
    status: Literal["pending", "in_progress", "completed"]


class TodoWriteParams(Params):
    todos: tuple[TodoItem, ...]


class TodoWrite(Tool[TodoWriteParams]):
    """Write the todo list, for you and the user. Each call replaces the whole list.

    Use it when
    - the task has three or more distinct steps
    - the task needs care
    - the user asks for a list
    - the user gives several tasks
    - new instructions come in: note them
    - you start a step: mark it in_progress, only one at a time
    - you finish a step: mark it completed at once
    Not for a single simple step or a plain question."""

    name = "TodoWrite"
    effect = Effect.NONE
    params = TodoWriteParams

    def describe(self, params: TodoWriteParams) -> str:
        return f"note {len(params.todos)} todos"

    async def prepare(self, params: TodoWriteParams, context: ToolContext) -> None:
        if len({todo.id for todo in params.todos}) != len(params.todos):
            raise ToolError("two todos have the same id; give each its own and write the whole list again")

    async def execute(self, params: TodoWriteParams, context: ToolContext) -> ToolOutput:
        context.todos[:] = [Todo(todo.id, todo.content, todo.status) for todo in params.todos]
        context.emit(TodosChanged(tuple(context.todos)))
        done = sum(todo.status == "completed" for todo in params.todos)
        return ToolOutput(data="The list is updated.", description=f"{done} of {len(params.todos)} todos completed")
