"""Loaded settings: every setting from every source, and all faults at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from drumbeat.config.backend_settings import Description, describe
from drumbeat.config.backends import fault_of
from drumbeat.config.command_line import CommandLine, command_line
from drumbeat.config.config import SETTING, SETTINGS, fault_in
from drumbeat.config.development import without_servers
from drumbeat.config.kinds import BackendUrl
from drumbeat.config.mask import masked
from drumbeat.config.origin import CODE, DEFAULT, Level, SettingOrigin
from drumbeat.config.setting import FROM_FILE, PREFIX, Setting
from drumbeat.config.sources import SettingText, Variables, dotenv_here, environment_of_this_process
from drumbeat.model.errors import ConfigurationError, InvalidInput
from drumbeat.model.part import Part
from drumbeat.ports.backend_guard import backend_guard

PARTS = frozenset(Part)
SERVER, TOKEN, TOKEN_FILE = f"{PREFIX}SERVER", f"{PREFIX}TOKEN", f"{PREFIX}TOKEN{FROM_FILE}"
"""Read by the command line when it uses a server; not settings of an app."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where settings come from, each stronger than the one before it."""

    code: Mapping[str, object] = field(default_factory=dict[str, object])
    dotenv: Mapping[str, str] = field(default_factory=dict[str, str])
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    command_line: CommandLine = field(default_factory=CommandLine)

    @classmethod
    def of_this_process(
        cls,
        code: Mapping[str, object],
        environment: Mapping[str, str] | None = None,
        dotenv: Mapping[str, str] | None = None,
        given: Mapping[str, str] | None = None,
    ) -> Sources:
        """Code and the surroundings of the process; a given environment replaces `.env` too."""
        alone = environment is not None
        found = cls(
            code=code,
            dotenv=dotenv if dotenv is not None else {} if alone else dotenv_here(),
            environment=environment_of_this_process() if environment is None else environment,
            command_line=command_line() if given is None else CommandLine(given),
        )
        return found if alone else found.for_a_test()

    def for_a_test(self) -> Sources:
        """The same, in a test without the addresses that would take an app out of memory."""
        guard, store = backend_guard(), self.code.get(Part.STORE)
        in_memory = store.startswith("memory:") if isinstance(store, str) else store is not None
        if guard is None or not guard.refuses or not in_memory:
            return self
        return replace(
            self,
            dotenv=_without_addresses(self.dotenv),
            environment=_without_addresses(self.environment),
        )


@dataclass(slots=True)
class LoadedSettings:
    """The values that were found, where each came from, and what is wrong with them."""

    values: dict[str, object] = field(default_factory=dict[str, object])
    origins: dict[str, SettingOrigin] = field(default_factory=dict[str, SettingOrigin])
    faults: list[str] = field(default_factory=list[str])
    """One sentence each: the setting, where its value came from, and what is allowed."""
    unknown: list[str] = field(default_factory=list[str])
    """One sentence for each variable with the prefix that is no setting; harmless."""
    notes: list[str] = field(default_factory=list[str])
    """One sentence for each setting of a backend that is given and not used."""

    @classmethod
    def of(cls, sources: Sources) -> LoadedSettings:
        """Read every setting from every source."""
        loaded = cls()
        loaded._refuse_unknown(sources.code)
        for each in SETTINGS:
            loaded._settle(each, sources)
        loaded._apply(describe(loaded.values, loaded.origins))
        loaded._choose_store(sources.command_line)
        names = {*sources.dotenv, *sources.environment}
        loaded.unknown += [_unknown_variable(name) for name in sorted(names) if _is_unknown(name)]
        return loaded

    def settled(self) -> dict[str, Any]:
        """The values as `Config` takes them; `ConfigurationError` with a line for each fault."""
        if self.faults:
            raise ConfigurationError("\n".join(self.faults))
        return {**self.values, "origins": self.origins, "notes": tuple(self.notes)}

    def _refuse_unknown(self, code: Mapping[str, object]) -> None:
        known = ", ".join(SETTING)
        self.faults += [
            f"unknown setting {name!r}; known: {known}" for name in code if name not in SETTING
        ]

    def _settle(self, each: Setting, sources: Sources) -> None:
        self.values[each.name], self.origins[each.name] = each.default, DEFAULT
        given = sources.code.get(each.name)
        if each.name in PARTS and not isinstance(given, str | None):
            # A backend that the user made takes precedence over addresses; its type is shown.
            self.values[each.name], self.origins[each.name] = f"<{type(given).__name__}>", CODE
            return
        try:
            self._read(each, sources)
        except InvalidInput as error:
            self._fault(each, str(error))
            return
        value = self.values[each.name]
        fault = fault_in(each, value)
        if fault is None and each.name in PARTS and isinstance(value, str):
            fault = fault_of(Part(each.name), value)
        if fault is not None:
            self._fault(each, fault)

    def _read(self, each: Setting, sources: Sources) -> None:
        found, given = _find(each, sources), sources.code.get(each.name)
        if found is not None:
            self.origins[each.name] = found.origin
            self.values[each.name] = each.row.kind.read(each.name, found.text)
        elif each.name in sources.code and not (each.name in PARTS and given is None):
            self.origins[each.name] = CODE
            self.values[each.name] = given

    def _fault(self, each: Setting, sentence: str) -> None:
        origin = self.origins[each.name]
        fault = masked(sentence) if each.row.secret else sentence
        fault = fault if origin in (CODE, DEFAULT) else f"{fault} (given by {origin})"
        self.faults.append(fault)
        self.values[each.name] = each.default

    def _choose_store(self, given: CommandLine) -> None:
        """The store that the command gives an app that names none, or that names a server."""
        if given.development_store is not None:
            self._apply(without_servers(self.values, self.origins, given.development_store))
        if self.values[Part.STORE] is None and given.default_store is not None:
            self.values[Part.STORE] = given.default_store

    def _apply(self, found: Description) -> None:
        for part, named in found.named.items():
            self.values[part], self.origins[part] = named.address, named.origin
        self.faults += found.faults
        self.notes += found.notes


def _find(each: Setting, sources: Sources) -> SettingText | None:
    """The text from the strongest source that has one."""
    given = sources.command_line.settings.get(each.name)
    if given is not None:
        return SettingText(given, SettingOrigin(Level.COMMAND_LINE, each.option or ""))
    environment = Variables(Level.ENVIRONMENT, sources.environment).find(each)
    return environment or Variables(Level.DOTENV, sources.dotenv).find(each)


def _without_addresses(texts: Mapping[str, str]) -> Mapping[str, str]:
    return {name: text for name, text in texts.items() if name not in _ADDRESSES}


_ADDRESSES = frozenset(
    name
    for each in SETTINGS
    if isinstance(each.row.kind, BackendUrl)
    for variable in each.variables
    for name in (variable, variable + FROM_FILE)
)
_KNOWN = frozenset(
    name
    for each in SETTINGS
    for variable in each.variables
    for name in ((variable, variable + FROM_FILE) if each.row.secret else (variable,))
)


def _is_unknown(name: str) -> bool:
    of_clients = (SERVER, TOKEN, TOKEN_FILE)
    return name.startswith(PREFIX) and name not in _KNOWN and name not in of_clients


def _unknown_variable(name: str) -> str:
    import difflib  # noqa: PLC0415 - only for an error

    near = difflib.get_close_matches(name, _KNOWN, 1)
    return f"{name} is not a setting" + (f"; did you mean {near[0]}?" if near else "")
