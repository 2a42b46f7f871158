"""Tools that a model calls and that are not there: those of other agents, of other modes, or slips in the name."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from odin_lsp.permissions.rules import decide
from odin_lsp.tools.base import Tool, ToolContext


def _named(**names: str) -> dict[str, str]:
    return {name: tool for tool, known in names.items() for name in known.split()}


ELSEWHERE = _named(
    ExecuteCommand="bash shell terminal execute exec run runcommand runterminalcmd runinterminal runshellcommand"
    " executebash executecommand localshell localshellcall shellcommand execcommand bashtool powershell python",
    CommandStatus="bashoutput killshell killbash writestdin getterminaloutput shellview taskoutput taskstop",
    EditTool="edit editfile fileedit strreplace strreplaceeditor strreplacebasededittool replace replaceinfile"
    " searchreplace applypatch applydiff patch inserteditintofile replacestringinfile insertcontent notebookedit",
    MultiEditTool="multiedit multistrreplace multireplacestringinfile",
    WriteFile="write create createfile newfile writetofile filewrite savefile",
    Read="cat view open openfile readfile readmanyfiles fileread viewfile getfilecontents notebookread",
    Grep="search rg ripgrep searchfiles grepsearch codebasesearch searchfilecontent findinfiles semanticsearch",
    Glob="find findfiles filesearch globfilesearch searchbyname",
    LS="ls list listdir listdirectory listfiles listfolder",
    AgentTool="task agent subagent newtask spawnagent runsubagent delegate",
    WebFetch="fetch webfetch browse fetchwebpage urlfetch readurl",
    AskUser="askuserquestion askfollowupquestion question askuser",
    TodoWrite="todo todos updateplan todowrite managetodolist todoread",
    MoveFile="move rename mv renamefile",
    DeleteFile="delete remove rm removefile",
    Memory="savememory memorytool updatememory",
)
"""What other agents call their tools, without capitals and underscores."""
NEEDLESS = {
    **dict.fromkeys(("attemptcompletion", "finish", "done", "submit", "taskcomplete"), "to finish, answer the user"),
    **dict.fromkeys(("exitplanmode", "planexit", "presentplan"), "the plan is your answer"),
    **dict.fromkeys(("think", "sequentialthinking"), "think without a tool"),
    **dict.fromkeys(("websearch", "googlewebsearch"), "WebFetch reads a page whose address you know"),
}
"""What other agents have a tool for, and what to do here."""


def no_such_tool(
    name: str, tools: Mapping[str, Tool[Any]], known: Mapping[str, Tool[Any]], context: ToolContext
) -> str:
    """What to do instead. `known`: in any mode."""
    plain = name.lower().replace("_", "").replace("-", "")
    if plain in NEEDLESS:
        return f"there is no tool {name!r} here; {NEEDLESS[plain]}"
    close = get_close_matches(name, known, n=1)
    meant = next((it for it in (name, ELSEWHERE.get(plain, ""), *close) if it in known), "")
    if not meant:
        return f"there is no tool {name!r} here; there are {', '.join(tools)}"
    if meant not in tools:
        return _not_offered(known[meant], context)
    return f"there is no tool {name!r} here; you may mean {meant}"


def _not_offered(tool: Tool[Any], context: ToolContext) -> str:
    if tool.main_only and context.delegate is None:
        return f"{tool.name} is not for subagents; say in your result what is left to do"
    verdict = decide(tool.name, tool.effect, context.mode)
    if verdict.decision == "deny":
        return f"{verdict.reason}; say in your answer what you would do with it"
    if tool.runs_commands:
        return f"{tool.name} is not available while the user does not trust this workspace; use Read, Glob and Grep"
    return f"{tool.name} is turned off in the user's settings; go on without it"
