"""Which files of a project are searched, and which are refused."""

import os
from pathlib import Path

import pytest

from runtime.errors import Place
from runtime.knowledge import references
from runtime.knowledge.references import collect_chunks, reference_files
from runtime.project.problems import Problems


def _write(root: Path, name: str, data: str | bytes = "Text.") -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


def _problems(root: Path) -> list[tuple[str, str]]:
    problems = Problems()
    assert collect_chunks(root, problems) == ()
    return [(str(problem.place), problem.code) for problem in problems.found]


def test_the_projects_and_the_skills_references_are_collected(tmp_path: Path):
    """R46: references at the root and in skills, at any depth, and nothing else."""
    for name in (
        "references/b.md",
        "references/deep/er/a.md",
        "skills/stay/references/pets.md",
        "references/.hidden.md",
        "references/__old/a.md",
        "references/c.txt",
        "skills/stay/skill.md",
        "skills/references/no.md",
        "README.md",
    ):
        _write(tmp_path, name, f"# Head\n\n{name}")
    problems = Problems()
    chunks = collect_chunks(tmp_path, problems, chunk_size=30, chunk_overlap=0)
    expected = ["references/b.md", "references/deep/er/a.md", "skills/stay/references/pets.md"]
    assert [(chunk.file, chunk.text) for chunk in chunks] == [(n, n) for n in expected]
    assert problems.found == []


def test_a_project_without_references_has_no_chunks_and_no_problem(tmp_path: Path):
    assert _problems(tmp_path) == []


def test_a_file_in_another_encoding_is_a_problem_at_its_place(tmp_path: Path):
    _write(tmp_path, "references/a.md", b"One.\nCaf\xe9.")
    _write(tmp_path, "references/b.md", "One.".encode("utf-16"))
    assert _problems(tmp_path) == [
        ("references/a.md:2:4", "encoding"),
        ("references/b.md", "encoding"),
    ]


def test_a_byte_order_mark_is_no_text(tmp_path: Path):
    _write(tmp_path, "references/a.md", b"\xef\xbb\xbf# Head\n\nText.")
    (chunk,) = collect_chunks(tmp_path, Problems())
    assert (chunk.heading, chunk.text) == ("Head", "Text.")


def test_a_file_that_is_too_large_is_a_problem(tmp_path: Path):
    _write(tmp_path, "references/a.md", b" " * (references.MAX_FILE_BYTES + 1))
    assert _problems(tmp_path) == [("references/a.md", "file_too_large")]


def test_too_many_bytes_or_files_are_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in "abc":
        _write(tmp_path, f"references/{name}.md", "x" * 10)
    problems = Problems()
    monkeypatch.setattr(references, "MAX_TOTAL_BYTES", 25)
    assert len(collect_chunks(tmp_path, problems)) == 2
    monkeypatch.setattr(references, "MAX_FILES", 2)
    assert len(reference_files(tmp_path, problems)) == 2
    assert [(p.place, p.code) for p in problems.found] == [
        (Place("references/c.md"), "references_too_large"),
        (Place("references/c.md"), "too_many_references"),
    ]


def test_links_that_leave_the_project_are_refused(tmp_path: Path):
    root = tmp_path / "agent"
    _write(tmp_path, "outside/secret.md")
    _write(root, "agent.yml")
    (root / "references").mkdir()
    (root / "references" / "a.md").symlink_to(tmp_path / "outside" / "secret.md")
    (root / "references" / "b").symlink_to(tmp_path / "outside")
    (root / "skills" / "stay").mkdir(parents=True)
    (root / "skills" / "stay" / "references").symlink_to(tmp_path / "outside")
    assert sorted(_problems(root)) == [
        ("references/a.md", "leaves_project"),
        ("references/b", "leaves_project"),
        ("skills/stay/references", "leaves_project"),
    ]


def test_links_inside_the_project_are_followed_and_circles_end(tmp_path: Path):
    _write(tmp_path, "docs/faq.md")
    (tmp_path / "references").mkdir()
    (tmp_path / "references" / "docs").symlink_to(tmp_path / "docs")
    (tmp_path / "docs" / "again").symlink_to(tmp_path / "references")
    (tmp_path / "references" / "self.md").symlink_to("self.md")
    problems = Problems()
    assert reference_files(tmp_path, problems) == ("references/docs/faq.md",)
    assert [p.place.file for p in problems.found] == ["references/self.md"]


def test_a_pipe_is_no_reference_and_holds_nothing_up(tmp_path: Path):
    (tmp_path / "references").mkdir()
    os.mkfifo(tmp_path / "references" / "a.md")
    assert _problems(tmp_path) == [("references/a.md", "unreadable")]
