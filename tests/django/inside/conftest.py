"""The project: SQLite in a file, and a store in memory."""

import atexit
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import django
import pytest
from django.conf import settings

FILE = Path(tempfile.mkdtemp()) / "shop.sqlite3"
"""Not in memory, where Django never closes a connection."""
LIBRARY = "django.tasks" if django.VERSION >= (6,) else "django_tasks"

atexit.register(shutil.rmtree, FILE.parent)
settings.configure(
    DEBUG=True,
    SECRET_KEY="test",
    USE_TZ=True,
    ROOT_URLCONF="tests.django.inside.urls",
    ALLOWED_HOSTS=["*"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": FILE}},
    INSTALLED_APPS=[
        "django.contrib.admin",
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.messages",
        "django.contrib.sessions",
        "drumbeat.django",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
    ],
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request",
                    "django.contrib.auth.context_processors.auth",
                    "django.contrib.messages.context_processors.messages",
                ]
            },
        }
    ],
    DRUMBEAT={"STORE": "memory://"},
    TASKS={
        "default": {
            "BACKEND": "drumbeat.django.tasks_backend.DrumbeatBackend",
            "QUEUES": ["default", "mail"],
        }
    },
)
django.setup()

from drumbeat.django import app  # noqa: E402 - once apps are loaded
from drumbeat.testing import SyncIsolatedApp, isolated  # noqa: E402


@pytest.fixture
def drumbeat_sync() -> Iterator[SyncIsolatedApp]:
    with isolated(app) as test:
        yield SyncIsolatedApp(test)


@pytest.fixture
def database() -> Iterator[None]:
    """A connection that is closed at the end."""
    from django.db import connection

    connection.ensure_connection()
    yield
    connection.close()
