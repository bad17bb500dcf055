"""A web app that has the dashboard below a path of its own."""

from __future__ import annotations

from fastapi import FastAPI

from drumbeat.fastapi import attach
from shop import app

site = FastAPI()
attach(site, app, mount="/tools/beat")
