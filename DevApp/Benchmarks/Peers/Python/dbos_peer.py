"""Durable flows with DBOS on SQLite: steps of one workflow, and of 64 workflows at once.

Asynchronous workflows, because the synchronous ones are slower. With --wal, the database is created
in WAL mode before DBOS opens it; DBOS itself leaves SQLite's rollback journal as it is.
"""

import asyncio
import os
import sqlite3
import sys
import tempfile

from dbos import DBOS

from protocol import Way, serve

FLOWS = 64


@DBOS.step()
async def step(number: int) -> int:
    return number


@DBOS.workflow()
async def flow(count: int) -> int:
    total = 0
    for number in range(count):
        total += await step(number)
    return total


async def flows(count: int) -> int:
    return sum(await asyncio.gather(*[flow(count // FLOWS) for _ in range(FLOWS)]))


def main() -> None:
    with tempfile.TemporaryDirectory(dir=os.environ.get("PEER_FOLDER")) as folder:
        path = os.path.join(folder, "dbos.sqlite")
        name = "DBOS"
        if "--wal" in sys.argv:
            name = "DBOS, WAL"
            with sqlite3.connect(path) as database:
                database.execute("PRAGMA journal_mode = WAL")
            database.close()
        DBOS(
            config={
                "name": "benchmark",
                "system_database_url": f"sqlite:///{path}",
                "run_admin_server": False,
                "log_level": "ERROR",
            }
        )
        DBOS.launch()
        serve([Way("flow", name, flow), Way("flows", name, flows)])
        DBOS.destroy()


main()
