"""Sources: the environment and `.env`, and how a setting is found in them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from drumbeat.config.origin import Level, SettingOrigin
from drumbeat.config.setting import FROM_FILE, Setting
from drumbeat.model.errors import InvalidInput

DOTENV = Path(".env")


@dataclass(frozen=True, slots=True)
class SettingText:
    """The text of a setting in a source, and the name that it was found under."""

    text: str
    origin: SettingOrigin


@dataclass(frozen=True, slots=True)
class Variables:
    """Variables by name, from the environment or from a `.env` file."""

    level: Level
    texts: Mapping[str, str]

    def find(self, each: Setting) -> SettingText | None:
        """The text for a setting under the strongest of its names. An empty text counts as none.

        A setting that may hold a secret can also be given as the path of a file that holds it.
        """
        for name in each.variables:
            text = self.texts.get(name, "")
            path = self.texts.get(name + FROM_FILE, "") if each.row.secret else ""
            if text and path:
                raise InvalidInput(
                    f"{each.name} is given twice, by {name} and by {name}{FROM_FILE}; "
                    f"remove one of them"
                )
            if text:
                return SettingText(text, SettingOrigin(self.level, name))
            if path:
                origin = SettingOrigin(self.level, name + FROM_FILE)
                return SettingText(_contents(each, Path(path), origin), origin)
        return None


def _contents(each: Setting, path: Path, origin: SettingOrigin) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidInput(
            f"{each.name} cannot be read from {str(path)!r}: {reason} ({origin}); "
            f"correct the path or the file's permissions"
        ) from None


def environment_of_this_process() -> Mapping[str, str]:
    return dict(os.environ)


def dotenv_here() -> Mapping[str, str]:
    """The variables of the `.env` file in the working directory; none if there is no file."""
    if not DOTENV.is_file():
        return {}
    from dotenv import dotenv_values  # noqa: PLC0415 - only those who have such a file wait for it

    return {name: text for name, text in dotenv_values(DOTENV).items() if text is not None}
