"""Tokens of the local fleet."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from drumbeat.engine.plumbing.token_secrets import new_token
from drumbeat.fleet.local.audit import AuditTrail
from drumbeat.fleet.local.fault import fault_of
from drumbeat.fleet.local.services import Services
from drumbeat.model.errors import InvalidInput, TokenNameTaken, UnknownToken
from drumbeat.model.fleet.token import NameTaken, NewToken, Scope
from drumbeat.model.time.instant import in_range
from drumbeat.rules.tokens import check_name, digest_of, is_session
from drumbeat.wire.token import MadeTokenView, TokenView, made_token_view, token_view


class LocalTokens:
    """Implements `FleetTokens`."""

    def __init__(self, services: Services, trail: AuditTrail) -> None:
        self._tokens = services.store.tokens
        self._clock = services.runtime.clock
        self._trail = trail

    async def create(
        self,
        name: str,
        scope: Scope = Scope.VIEWER,
        expires_at: datetime | None = None,
        reason: str = "",
    ) -> MadeTokenView:
        request = {"scope": scope, "expires_at": expires_at}
        async with self._trail.change("token.create", name, reason, request):
            self._check_expiry(expires_at)
            secret = new_token()
            with fault_of("name"):
                check_name(name)
                new = NewToken(name, digest_of(secret), scope, expires_at)
                made = await self._tokens.add(new)
            if isinstance(made, NameTaken):
                raise TokenNameTaken(made.name)
            return made_token_view(made, secret)

    async def list(self, *, sessions: bool = False) -> Sequence[TokenView]:
        records = await self._tokens.list()
        return [token_view(each) for each in records if sessions or not is_session(each)]

    async def revoke(self, name_or_id: str, reason: str = "") -> TokenView:
        async with self._trail.change("token.revoke", name_or_id, reason):
            record = await self._tokens.revoke(name_or_id)
            if record is None:
                raise UnknownToken(name_or_id)
            return token_view(record)

    def _check_expiry(self, expires_at: datetime | None) -> None:
        if expires_at is None:
            return
        in_range("expires_at", expires_at)
        now = self._clock.now()
        if expires_at <= now:
            rule = f"later than now, {now.isoformat(timespec='seconds')}"
            raise InvalidInput(
                f"expires_at is {expires_at.isoformat()}, and has to be {rule}",
                parameter="expires_at",
                rule=rule,
            )
