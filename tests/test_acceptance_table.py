"""The list of promises is complete, held by tests, and its table is fresh."""

from pathlib import Path

from tests.acceptance_table import DOCUMENT, faults, held_ids, promised_ids, table, with_table

PROMISED = (
    "A01 A02 A04 A05 A06 A07 A08 A09 A10 A12 A13 A14 B01 B02 B03 B04 B05 C01 C03 C07 C08 C11 C17 "
    "D04 D06 H01 H02 H03 H04 H05 H06 H07 H08 H10 H11 H12 H13 I01 I02 I03 I04 I06 I08 I09 "
    "N02 N03 N04 N05 N06"
).split()
"""What this version stands for, whatever else the document promises."""

LATER = {"R16"}
"""Rows of the contract that come with the servers of tools."""

CONTRACT = {
    *(f"R{n}" for n in range(1, 61)),
    *(f"M{n}" for n in range(1, 15)),
    *(f"C{n}" for n in range(1, 17)),
    "D1",
    "D2",
} - LATER
"""Rows of the author's contract; each has words and a test."""

IN_BOTH_LISTS = tuple(f"C{n}" for n in range(10, 17))
ROW_TESTS = ("runtime/engine/test_gates", "runtime/engine/test_confirm", "runtime/project/")
"""Where rows among them are held."""

WHOLE_CALLS = [name for name in PROMISED if name[0] in "ABCD"]
"""Promises that a caller can hear: each is held by a whole call, not by parts alone."""


def test_every_promise_has_its_tests_and_the_table_is_fresh() -> None:
    assert faults(DOCUMENT.read_text(encoding="utf-8"), held_ids()) == []


def test_what_this_version_stands_for_is_promised() -> None:
    promised = set(promised_ids(DOCUMENT.read_text(encoding="utf-8")))
    assert sorted((set(PROMISED) | CONTRACT) - promised) == []
    assert sorted(CONTRACT - set(held_ids())) == []


def test_an_id_of_both_lists_is_held_for_both_meanings() -> None:
    """Rows of that number are about gates and confirmations, the cases about everything else."""
    held = held_ids()
    for name in IN_BOTH_LISTS:
        paths = [path for path, _ in held[name]]
        of_rows = [path for path in paths if path.startswith(ROW_TESTS)]
        assert of_rows, f"{name} of the contract"
        assert len(of_rows) < len(paths), f"{name} of the cases"


def test_a_row_of_the_contract_and_a_case_of_the_same_number_are_two(tmp_path: Path) -> None:
    """A zero in front counts, and words beside an id are none."""
    (tmp_path / "test_x.py").write_text(
        'def test_one():\n    """C7, R60: not C123, XC8, C007 or Z9."""\n', encoding="utf-8"
    )
    assert sorted(held_ids(tmp_path)) == ["C7", "R60"]
    assert promised_ids("- **C7** A.\n- **C07** B.\n- **C007** C.\n") == ["C7", "C07"]


def test_what_a_caller_can_hear_is_held_by_a_whole_call() -> None:
    held = held_ids()
    parts_only = [
        name
        for name in WHOLE_CALLS
        if not any(path.startswith("acceptance/") for path, _ in held[name])
    ]
    assert parts_only == []


def test_a_stale_table_a_bare_promise_and_an_unknown_id_are_told(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text(
        'def test_one():\n    """A01, B02: as it should."""\n', encoding="utf-8"
    )
    held = held_ids(tmp_path)
    assert held == {"A01": [("test_x.py", "test_one")], "B02": [("test_x.py", "test_one")]}
    text = (
        "- **A01** Stops.\n- **C03** Settles.\n\n"
        "<!-- table: written by python -m tests.acceptance_table --write -->\n"
        "<!-- end of table -->\n"
    )
    told = faults(text, held)
    assert [line.split()[0] for line in told] == ["B02", "C03", "the"]
    fresh = with_table(text, table(held, ["A01", "C03"]))
    assert "| A01 | `test_x.py`: one |" in fresh
    assert [line.split()[0] for line in faults(fresh, held)] == ["B02", "C03"]
