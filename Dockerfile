# Drumbeat for containers. The target `runtime` is the image to build yours from:
#
#     FROM drumbeat
#     COPY shop shop
#     CMD ["worker", "shop.jobs:app"]
#
# The target `example` has the app of examples/cluster in it, which deploy/docker-compose.yml runs.
# Build both with scripts/image.

ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    UV_COMPILE_BYTECODE=1 \
    UV_LINK_MODE=copy \
    UV_NO_CACHE=1 \
    UV_PROJECT_ENVIRONMENT=/opt/drumbeat \
    UV_PYTHON_DOWNLOADS=never
RUN pip install "uv>=0.8"
WORKDIR /src
COPY pyproject.toml uv.lock README.md LICENSE ./
COPY src src
# The locked versions, with their hashes; and no development tools.
RUN uv sync --locked --no-default-groups --no-editable \
    --extra postgres --extra redis --extra etcd --extra consul --extra api --extra client --extra otel

FROM python:${PYTHON}-slim AS runtime
# The base image brings pip; nothing installs anything here.
RUN pip uninstall --yes --quiet --root-user-action=ignore pip \
    && groupadd --system --gid 10001 drumbeat \
    && useradd --system --uid 10001 --gid drumbeat --home-dir /app --no-create-home drumbeat \
    && install -d -o drumbeat -g drumbeat /app
COPY --from=build /opt/drumbeat /opt/drumbeat
# Every role listens within the container, so that the health check reaches it. Other machines reach
# it at the addresses that you set.
ENV PATH=/opt/drumbeat/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HTTP_ADDR=127.0.0.1:8080 \
    WORKER_HTTP_ADDR=127.0.0.1:9090 \
    LOG_FORMAT=JSON
WORKDIR /app
USER 10001:10001
STOPSIGNAL SIGTERM
# Whether the process answers, and not whether its store does: a restart would not bring that back.
HEALTHCHECK --interval=15s --timeout=10s --start-period=60s --retries=3 \
    CMD ["drumbeat", "healthcheck", "--probe", "live", "--timeout", "5"]
ENTRYPOINT ["drumbeat"]
CMD ["--help"]

FROM runtime AS example
COPY --chown=10001:10001 examples/cluster/jobs.py jobs.py
CMD ["run", "jobs:app", "--roles", "scheduler,worker,api"]
