"""Every setting stands in docs/settings.md with all of its names."""

from __future__ import annotations

from pathlib import Path

import pytest

from drumbeat.config import SETTINGS
from drumbeat.config.setting import Setting

PAGE = (Path(__file__).parents[2] / "docs" / "settings.md").read_text(encoding="utf-8")
ROWS = {line.split("`")[1]: line for line in PAGE.splitlines() if line.startswith("| `")}


@pytest.mark.parametrize("each", SETTINGS, ids=lambda each: each.name)
def test_a_setting_is_documented_with_its_plain_names(each: Setting) -> None:
    assert each.name in ROWS
    assert [name for name in each.row.plain if f"`{name}`" not in ROWS[each.name]] == []


@pytest.mark.parametrize("each", SETTINGS, ids=lambda each: each.name)
def test_the_page_tells_which_settings_may_come_from_a_file(each: Setting) -> None:
    assert ("secret" in ROWS[each.name]) == each.row.secret
