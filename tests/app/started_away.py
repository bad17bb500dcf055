"""A program that runs on the store of the environment. Run by `test_store_away_at_start`."""

from __future__ import annotations

from drumbeat import Drumbeat

app = Drumbeat(lease_ttl=2.0)


@app.task
async def work() -> None: ...


if __name__ == "__main__":
    app.run()
