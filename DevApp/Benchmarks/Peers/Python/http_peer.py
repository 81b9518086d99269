"""Requests over HTTP with aiohttp, to the server whose address is PEER_SERVER."""

import asyncio
import os

import aiohttp
from protocol import Way, serve

SERVER = os.environ.get("PEER_SERVER")
MEGABYTE = 1_000_000


async def small(connections: int, count: int) -> int:
    numbers = iter(range(count))

    async def send() -> int:
        size = 0
        for _ in numbers:
            async with session.get(f"{SERVER}/small") as response:
                response.raise_for_status()
                size += len(await response.read())
        return size

    connector = aiohttp.TCPConnector(limit=connections)
    async with aiohttp.ClientSession(connector=connector) as session:
        return sum(await asyncio.gather(*[send() for _ in range(connections)]))


async def to_memory(megabytes: int) -> int:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{SERVER}/large/{megabytes * MEGABYTE}") as response:
            response.raise_for_status()
            return len(await response.read())


async def to_file(megabytes: int) -> int:
    size = 0
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{SERVER}/large/{megabytes * MEGABYTE}") as response:
            response.raise_for_status()
            with open("/dev/null", "wb", buffering=0) as file:
                async for chunk in response.content.iter_any():
                    size += file.write(chunk)
    return size


if __name__ == "__main__":
    name = "Python aiohttp"
    serve(
        [
            Way("http-1", name, lambda count: small(1, count)),
            Way("http-8", name, lambda count: small(8, count)),
            Way("http-64", name, lambda count: small(64, count)),
            Way("http-to-memory", name, to_memory),
            Way("http-to-file", name, to_file),
        ]
        if SERVER
        else []
    )
