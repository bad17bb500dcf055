from dataclasses import FrozenInstanceError

import pytest

from drumbeat.model.events import Event, NodeStopped, TaskUnknown
from drumbeat.model.ids import NodeId


def test_events_with_the_same_facts_are_equal() -> None:
    assert TaskUnknown("mail") == TaskUnknown(task="mail")
    assert TaskUnknown("mail") != TaskUnknown("bill")
    assert hash(TaskUnknown("mail")) == hash(TaskUnknown("mail"))


@pytest.mark.parametrize("event", [TaskUnknown("mail"), NodeStopped(NodeId("a:1"))])
def test_an_event_cannot_be_changed(event: Event) -> None:
    for name in (*type(event).__annotations__, "other"):
        with pytest.raises(FrozenInstanceError):
            setattr(event, name, "changed")
