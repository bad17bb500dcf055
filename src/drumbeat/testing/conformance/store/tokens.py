"""Cases: API tokens."""

from __future__ import annotations

from drumbeat.model.fleet.token import NameTaken, NewToken, Scope, TokenRecord
from drumbeat.ports.store import Store
from drumbeat.rules.tokens import digest_of
from drumbeat.testing.conformance.builders import NOON, after, race
from drumbeat.testing.conformance.traits import StoreTraits


def token(name: str = "ci", word: str = "one", scope: Scope = Scope.VIEWER) -> NewToken:
    return NewToken(name, digest_of(word), scope)


async def added(store: Store, new: NewToken) -> TokenRecord:
    record = await store.tokens.add(new, NOON)
    assert isinstance(record, TokenRecord)
    return record


class TokenConformance:
    """Tokens are found by their digest, also after they are revoked."""

    async def test_a_token_is_found_by_its_digest(self, store: Store) -> None:
        new = NewToken("ci", digest_of("one"), Scope.OPERATOR, after(60))
        record = await added(store, new)
        assert record == TokenRecord(
            record.id, "ci", digest_of("one"), Scope.OPERATOR, NOON, after(60)
        )
        assert await store.tokens.find(digest_of("one")) == record
        assert await store.tokens.find(digest_of("two")) is None

    async def test_tokens_are_listed_in_the_order_of_their_addition(self, store: Store) -> None:
        assert list(await store.tokens.list()) == []
        records = [await added(store, token(name, name)) for name in ("zeta", "eta", "beta")]
        await store.tokens.revoke("eta", after(1))
        assert [each.id for each in await store.tokens.list()] == [each.id for each in records]

    async def test_a_name_is_taken_until_its_token_is_revoked(self, store: Store) -> None:
        first = await added(store, token())
        assert await store.tokens.add(token(word="two"), NOON) == NameTaken("ci")
        assert await store.tokens.find(digest_of("two")) is None
        await store.tokens.revoke("ci", after(1))
        second = await added(store, token(word="two"))
        assert second.id > first.id

    async def test_a_digest_is_known_once(self, store: Store) -> None:
        await added(store, token())
        await store.tokens.revoke("ci", after(1))
        assert await store.tokens.add(token("other"), NOON) == NameTaken("other")

    async def test_a_token_is_revoked_by_its_name_or_its_id(self, store: Store) -> None:
        by_name, by_id = await added(store, token()), await added(store, token("cd", "two"))
        assert (revoked := await store.tokens.revoke("ci", after(1))) is not None
        assert (revoked.id, revoked.revoked_at) == (by_name.id, after(1))
        assert await store.tokens.find(by_name.digest) == revoked
        assert (revoked := await store.tokens.revoke(str(by_id.id), after(2))) is not None
        assert (revoked.id, revoked.revoked_at) == (by_id.id, after(2))

    async def test_a_token_that_nobody_knows_cannot_be_revoked(self, store: Store) -> None:
        for unknown in ("ci", "12", "9" * 40, "\u0662"):
            assert await store.tokens.revoke(unknown, NOON) is None

    async def test_a_token_is_revoked_once(self, store: Store) -> None:
        await added(store, token())
        first = await store.tokens.revoke("ci", after(1))
        assert await store.tokens.revoke("ci", after(2)) == first

    async def test_a_reused_name_means_the_valid_token(self, store: Store) -> None:
        old = await added(store, token())
        await store.tokens.revoke("ci", after(1))
        new = await added(store, token(word="two"))
        revoked = await store.tokens.revoke("ci", after(2))
        assert revoked is not None
        assert revoked.id == new.id
        found = await store.tokens.find(old.digest)
        assert found is not None
        assert found.revoked_at == after(1)

    async def test_uses_are_noted_many_at_once_and_never_go_back(self, store: Store) -> None:
        a, b, c = [await added(store, token(name, name)) for name in ("a", "b", "c")]
        await store.tokens.used([a.id, b.id, a.id, 10**9], after(60))
        await store.tokens.used([b.id], after(30))
        await store.tokens.used([], after(90))
        assert [each.last_used_at for each in await store.tokens.list()] == [
            after(60),
            after(60),
            None,
        ]
        assert (await store.tokens.find(c.digest)) == c

    async def test_only_sessions_that_are_over_are_forgotten(self, store: Store) -> None:
        def session(number: int, end: int) -> NewToken:
            name = f"session {number:012x} of ci"
            return NewToken(name, digest_of(name), Scope.VIEWER, after(end))

        expired = await added(store, session(1, 10))
        revoked = await added(store, session(2, 1_000))
        await store.tokens.revoke(revoked.name, after(10))
        fresh = await added(store, session(3, 1_000))
        just_over = await added(store, session(4, 60))
        person = await added(store, NewToken("ci", digest_of("one"), Scope.VIEWER, after(10)))
        alike = await added(
            store, NewToken("session of ci", digest_of("two"), Scope.VIEWER, after(1))
        )
        assert await store.tokens.prune_sessions(after(60)) == 2
        left = [fresh.id, just_over.id, person.id, alike.id]
        assert [each.id for each in await store.tokens.list()] == left
        assert await store.tokens.find(expired.digest) is None
        assert await store.tokens.prune_sessions(after(60)) == 0

    async def test_one_name_added_at_once_by_many_becomes_one_token(
        self, store: Store, traits: StoreTraits
    ) -> None:
        async with traits.another() as other:
            answers = await race(
                lambda number: (store, other)[number % 2].tokens.add(token(word=str(number)))
            )
        assert sum(isinstance(answer, TokenRecord) for answer in answers) == 1
        assert len(await store.tokens.list()) == 1
