"""The jobs of a cluster of schedulers and workers, whose addresses come from the environment.

    export POSTGRES_DSN="postgres://user:password@localhost:5432/taskdb?sslmode=disable"
    export REDIS_URL=localhost:6379
    export ETCD_ENDPOINTS=localhost:2379

    HTTP_ADDR=127.0.0.1:8080 drumbeat scheduler jobs:app
    WORKER_ID=worker-1 WORKER_HTTP_ADDR=:9091 drumbeat worker jobs:app
    WORKER_ID=worker-2 WORKER_HTTP_ADDR=:9092 drumbeat worker jobs:app

    curl -X POST localhost:8080/jobs -H 'Content-Type: application/json' \\
         -d '{"payload": "task data", "priority": 5, "dedupe_key": "unique-key"}'
"""

from drumbeat import Context, Drumbeat, Retry, every

app = Drumbeat(default_task="work")


@app.task(retry=Retry.backpressure(max_retries=5, base_delay=1.0), timeout=60)
async def work(data: str) -> str:
    """Do what a posted job asks for. It is the default task, so jobs need not name it."""
    return data.upper()


@app.scheduled(every(minutes=1))
async def report(ctx: Context) -> None:
    """Runs once a minute on one of the workers, however many schedulers there are."""
    ctx.log.info("the cluster is alive", tick_at=ctx.tick_at)
