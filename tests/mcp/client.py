"""The official MCP client for Python, led line by line; see README.md."""

import asyncio
import json
import sys

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

URL, MODE, FORM = sys.argv[1:4]


async def only_streams(request):
    """The SDK takes both forms; a client that takes only event streams is a client all the same."""
    request.headers["Accept"] = "text/event-stream"


async def obey(client, command):
    if command["cmd"] == "tools":
        listed = await client.list_tools()
        return {"tools": [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed.tools]}
    result = await client.call_tool(command["tool"], command["arguments"])
    return result.model_dump(by_alias=True, exclude_none=True)


async def session(lines, token):
    """Until the end, or until another token is to be used; gives that."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    hooks = {"request": [only_streams]} if FORM == "sse" else {}
    async with httpx2.AsyncClient(headers=headers, timeout=60, event_hooks=hooks) as http:
        async with Client(streamable_http_client(URL, http_client=http), mode=MODE) as client:
            say({"protocol": client.protocol_version, "instructions": client.instructions})
            async for command in lines:
                if command["cmd"] == "connect":
                    return command["token"]
                try:
                    say(await obey(client, command))
                except MCPError as error:
                    say({"error": str(error)})
    return None


def say(answer):
    print(json.dumps(answer), flush=True)


async def commands():
    while line := await asyncio.to_thread(sys.stdin.readline):
        yield json.loads(line)


async def main():
    lines, token = commands(), ""
    while token is not None:
        token = await session(lines, token)


asyncio.run(main())
