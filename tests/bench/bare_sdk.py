"""A provider's own SDK in the least loop that does the work: send, stream, read the file, send again.

It takes the SDK as its documentation shows it, and is what Odin's steps are held against: `bare_sdk.py Anthropic`."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

PROMPT, SYSTEM = "read the files", "Be brief. " * 400
ABOUT = "Read a file."
SCHEMA = {"type": "object", "properties": {"file_path": {"type": "string"}}, "required": ["file_path"]}


async def anthropic() -> None:
    from anthropic import AsyncAnthropic

    client = AsyncAnthropic(max_retries=0)
    messages: list[Any] = [{"role": "user", "content": PROMPT}]
    tools: Any = [{"name": "Read", "description": ABOUT, "input_schema": SCHEMA}]
    model = "claude-sonnet-5-5"
    while True:
        sending = client.messages.stream(model=model, max_tokens=8192, messages=messages, tools=tools, system=SYSTEM)
        async with sending as stream:
            async for _ in stream:
                pass
            said = await stream.get_final_message()
        calls: list[Any] = [it for it in said.content if it.type == "tool_use"]
        if not calls:
            return
        messages.append({"role": "assistant", "content": [it.model_dump(exclude_none=True) for it in said.content]})
        results = [{"type": "tool_result", "tool_use_id": it.id, "content": read(it.input)} for it in calls]
        messages.append({"role": "user", "content": results})


async def chat() -> None:
    from openai import AsyncOpenAI

    client = AsyncOpenAI(max_retries=0)
    messages: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": PROMPT}]
    tools: Any = [{"type": "function", "function": {"name": "Read", "description": ABOUT, "parameters": SCHEMA}}]
    while True:
        call_id, name, arguments = "", "", ""
        async for chunk in await client.chat.completions.create(
            model="gpt-6-sol", messages=messages, tools=tools, stream=True
        ):
            for call in chunk.choices[0].delta.tool_calls or []:
                function = call.function
                call_id, name = call.id or call_id, (function and function.name) or name
                arguments += (function and function.arguments) or ""
        if not call_id:
            return
        called = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [called]})
        messages.append({"role": "tool", "tool_call_id": call_id, "content": read(json.loads(arguments))})


async def responses() -> None:
    from openai import AsyncOpenAI

    address = str(AsyncOpenAI().base_url).rstrip("/").removesuffix("/responses")
    client = AsyncOpenAI(base_url=address, max_retries=0)
    items: list[Any] = [{"role": "user", "content": PROMPT}]
    tools: Any = [{"type": "function", "name": "Read", "description": ABOUT, "parameters": SCHEMA, "strict": False}]
    while True:
        stream = await client.responses.create(
            model="gpt-6-sol", instructions=SYSTEM, input=items, tools=tools, store=False, stream=True
        )
        items_done = [event.item async for event in stream if event.type == "response.output_item.done"]
        calls: list[Any] = [it for it in items_done if it.type == "function_call"]
        if not calls:
            return
        items += [it.model_dump(exclude_none=True) for it in calls]
        for call in calls:
            output = read(json.loads(call.arguments))
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": output})


async def google() -> None:
    from google import genai

    types: Any = genai.types
    client = genai.Client()
    tool = types.FunctionDeclaration(name="Read", description=ABOUT, parameters_json_schema=SCHEMA)
    config = types.GenerateContentConfig(
        system_instruction=SYSTEM,
        tools=[types.Tool(function_declarations=[tool])],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    contents: list[Any] = [types.Content(role="user", parts=[types.Part(text=PROMPT)])]
    models: Any = client.aio.models
    while True:
        parts: list[Any] = []
        async for chunk in await models.generate_content_stream(
            model="gemini-3.8-flash", contents=contents, config=config
        ):
            for candidate in chunk.candidates or []:
                parts += (candidate.content and candidate.content.parts) or []
        calls = [it.function_call for it in parts if it.function_call]
        if not calls:
            return
        results = [
            types.FunctionResponse(id=it.id, name=it.name, response={"output": read(it.args or {})}) for it in calls
        ]
        contents.append(types.Content(role="model", parts=parts))
        contents.append(types.Content(role="user", parts=[types.Part(function_response=it) for it in results]))


def read(arguments: Any) -> str:
    lines = Path(arguments["file_path"]).read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(lines[arguments["offset"] - 1 :][: arguments["limit"]])


LOOPS = {"Anthropic": anthropic, "OpenAI, Chat": chat, "OpenAI, Responses": responses, "Google": google}

if __name__ == "__main__":
    asyncio.run(LOOPS[sys.argv[1]]())
