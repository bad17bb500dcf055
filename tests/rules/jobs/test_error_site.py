"""Errors of one cause have one site: the same exception, raised by the same line."""

from __future__ import annotations

import pytest

from drumbeat.rules.jobs.error_site import ErrorSite, message_of, site_of

DECLINED = """Traceback (most recent call last):
  File "/srv/shop/jobs.py", line 41, in charge
    gateway.charge(card)
  File "/srv/venv/lib/python3.13/site-packages/gateway/client.py", line 7, in charge
    raise Declined(card)
gateway.errors.Declined: card {card} was declined
ask the customer for another"""
CHAINED = """Traceback (most recent call last):
  File "/srv/shop/jobs.py", line 8, in read
    return rows["a"]
           ~~~~^^^^^
KeyError: 'a'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/srv/shop/jobs.py", line 12, in load
    raise Missing from error
shop.Missing"""
GROUPED = """  + Exception Group Traceback (most recent call last):
  |   File "/srv/shop/jobs.py", line 5, in both
  |     async with TaskGroup() as group:
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/srv/shop/jobs.py", line 9, in one
    |     raise ValueError(1)
    | ValueError: 1
    +------------------------------------"""


def test_the_frame_is_the_last_one_outside_of_libraries() -> None:
    assert site_of(DECLINED) == ErrorSite(
        "gateway.errors.Declined", "/srv/shop/jobs.py", 41, "charge"
    )


def test_what_an_error_says_does_not_tell_it_from_others() -> None:
    first, second = (site_of(DECLINED.replace("{card}", each)) for each in ("1", "2"))
    assert first == second
    assert message_of(DECLINED.replace("{card}", "7")) == (
        "card 7 was declined\nask the customer for another"
    )


def test_another_line_and_another_exception_are_other_sites() -> None:
    assert site_of(DECLINED) != site_of(DECLINED.replace("line 41", "line 42"))
    assert site_of(DECLINED) != site_of(DECLINED.replace("Declined: card", "Refused: card"))


def test_of_a_chain_the_error_that_left_the_handler_counts() -> None:
    assert site_of(CHAINED) == ErrorSite("shop.Missing", "/srv/shop/jobs.py", 12, "load")
    assert message_of(CHAINED) == ""


def test_if_all_frames_are_of_libraries_the_last_one_counts() -> None:
    text = DECLINED.replace("/srv/shop", "/usr/lib/python3.13/shop")
    assert site_of(text).file.endswith("gateway/client.py")


def test_a_group_of_exceptions_has_a_site_too() -> None:
    assert site_of(GROUPED).function == "one"


@pytest.mark.parametrize(
    ("text", "exception"),
    [
        ("the attempt took longer than 5.5 s", "the attempt took longer than # s"),
        ("the node web-1:0a1b2c3d died", "the node web-#:# died"),
        ("", ""),
    ],
)
def test_errors_without_a_traceback_are_told_apart_by_their_sentence(
    text: str, exception: str
) -> None:
    assert site_of(text) == ErrorSite(exception)
    assert message_of(text) == text


def test_a_huge_error_is_cut() -> None:
    assert len(message_of("x" * 100_000)) == 300
    assert len(site_of("x" * 100_000).exception) == 300
