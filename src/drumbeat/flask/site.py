"""The app of the site that Flask finds by FLASK_APP, for `--app drumbeat.flask.site:app`."""

from __future__ import annotations

import os
from typing import cast

from flask.cli import ScriptInfo

from drumbeat.flask import NAME, FlaskDrumbeat
from drumbeat.model.errors import ConfigurationError

_site = ScriptInfo(app_import_path=os.environ.get("FLASK_APP")).load_app()
if NAME not in _site.extensions:
    raise ConfigurationError(
        f"the Flask app {_site.name!r} has no Drumbeat: call init_app(site) where it is made"
    )
app = cast("FlaskDrumbeat", _site.extensions[NAME])
