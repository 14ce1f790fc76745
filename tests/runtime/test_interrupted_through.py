"""The table that both planes share."""

from runtime.agent import CloseCall, InterruptTurn
from runtime.interrupted_through import SLOTS, InterruptedThrough, shared_table


def test_a_new_call_does_not_inherit_what_the_old_one_left_in_its_slot() -> None:
    voice = InterruptedThrough(shared_table())
    slot = voice.take()
    voice.raise_interrupted(slot, InterruptTurn(1, 7, "words", "", (), 0))
    voice.raise_interrupted(slot, InterruptTurn(1, 3, "words", "", (), 0))
    assert voice.read(slot) == 7, "a slot never goes down"
    voice.raise_interrupted(slot, CloseCall(1, "caller", 0))
    voice.give_back(slot)
    assert voice.read(slot) > 10**9, "tools of the old call see that it is over"
    others = [voice.take() for _ in range(SLOTS - 1)]
    assert slot not in others, "it is taken again as late as can be"
    assert (voice.take(), voice.read(slot)) == (slot, 0)
