"""What can only be seen when all files of a project are known: names that must meet.

Owns the checks across files and the remarks that are no errors. Each check is told what is unknown
because another file failed, and then says nothing of it. Checks within one file are its reader's.
"""

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping

from runtime.errors import Place
from runtime.project.attach import HOOK, sources_of
from runtime.project.layout import SKILLS
from runtime.project.model import PROJECT_NAMESPACE, Dialect, MemoryField, Precondition
from runtime.project.problems import Problems, listed, nearest
from runtime.project.response_model import Response
from runtime.project.skill_model import (
    END,
    ActionStep,
    Block,
    BlockToken,
    CallStep,
    CollectStep,
    InstructStep,
    LinkStep,
    ProsePart,
    Skill,
    Step,
)
from runtime.tools.definition import ToolDef

__all__ = [
    "check_before_end",
    "check_hooks",
    "check_preconditions",
    "check_sources",
    "check_unused_hooks",
    "collected",
    "name_remarks",
    "remarks",
    "said",
]


def check_preconditions(
    preconditions: Mapping[str, Precondition], skills: Mapping[str, Skill], problems: Problems
) -> None:
    """Each resolver must be a skill, and none may wait for what it is to bring about."""
    for precondition in preconditions.values():
        target = precondition.resolve_with
        if target and target not in skills:
            problems.add(
                precondition.place,
                "unknown_skill",
                f"the precondition '{precondition.name}' is resolved by a skill '{target}', and "
                "there is none",
                _mend(target, skills),
            )
        elif target:
            _check_resolver(precondition, preconditions, skills, problems)


def _check_resolver(
    precondition: Precondition,
    preconditions: Mapping[str, Precondition],
    skills: Mapping[str, Skill],
    problems: Problems,
) -> None:
    """Follow what the resolver needs itself, and what resolves that."""
    behind: dict[str, None] = {}
    needed: Precondition | None = precondition
    while needed is not None and needed.name not in behind:
        behind[needed.name] = None
        resolver = skills.get(needed.resolve_with)
        needed = preconditions.get(resolver.precondition or "") if resolver else None
    if needed is not precondition:
        return
    others = list(behind)[1:]
    through = f" through {listed(others).replace(' or ', ' and ')}" if others else ""
    problems.add(
        precondition.place,
        "endless_circle",
        f"the precondition '{precondition.name}' is resolved by '{precondition.resolve_with}', "
        f"which needs '{precondition.name}' itself{through}",
        "resolve it with a skill that does not wait for it, or take 'precondition' out of that "
        "skill",
    )


def check_before_end(
    named: Mapping[str, Place], skills: Collection[str], problems: Problems
) -> None:
    """Each skill that is offered before the end must exist."""
    for target, place in named.items():
        if target not in skills:
            problems.add(
                place,
                "unknown_skill",
                f"'conversation.before_end' names a skill '{target}', and there is none",
                _mend(target, skills),
            )


def _mend(target: str, known: Collection[str]) -> str:
    close = nearest(target, known)
    return f"did you mean '{close}'?" if close else f"write {listed(sorted(known))}"


# ------------------------------------------------------------------ tools


def check_hooks(
    skill: str,
    tools: Iterable[ToolDef],
    fields: Collection[MemoryField],
    dialect: Dialect,
    problems: Problems,
) -> None:
    """A hook must be named after a field of the skill (R53); after a project field in Maestro."""
    own = {field.name for field in fields if field.namespace == skill}
    for tool in tools:
        _check_hook(tool, own, f"the skill '{skill}'", fields, dialect, problems)


def check_unused_hooks(
    tools: Iterable[ToolDef],
    fields: Collection[MemoryField],
    dialect: Dialect,
    problems: Problems,
) -> Iterator[str]:
    """Shared hooks that no skill has: each must be named after a field of some skill.

    Yields:
        A remark for each that is right and never runs.
    """
    own = {field.name for field in fields if field.namespace != PROJECT_NAMESPACE}
    for tool in tools:
        if tool.hook_for is None:
            continue
        before = len(problems.found)
        _check_hook(tool, own, "no skill", fields, dialect, problems)
        if len(problems.found) == before:
            yield f"{tool.place}: no skill imports the hook '{tool.name}': it never runs"


def _check_hook(
    tool: ToolDef,
    own: Collection[str],
    owner: str,
    fields: Iterable[MemoryField],
    dialect: Dialect,
    problems: Problems,
) -> None:
    project = {field.name for field in fields if field.namespace == PROJECT_NAMESPACE}
    entry = tool.hook_for
    if entry is None or entry in own or (dialect == "maestro" and entry in project):
        return
    if entry in project:
        problems.add(
            tool.place,
            "hook_on_project_field",
            f"'{tool.name}' is a hook on a field of the project, which the model never sets",
            "name it after a field of the skill; it may still write project memory",
        )
        return
    close = nearest(entry, own)
    has_none = f"{owner} has a field" if owner == "no skill" else f"{owner} has no field"
    problems.add(
        tool.place,
        "unknown_hook_field",
        f"'{tool.name}' is a hook, and {has_none} '{entry}'",
        f"did you mean '{HOOK}{close}'?" if close else "declare it in the skill's memory.yml",
    )


def check_sources(
    responses: Iterable[Response],
    tools: Collection[str],
    owner: str,
    problems: Problems,
) -> None:
    """Each source of buttons must be a tool; ``owner`` says whose."""
    for name, source in sources_of(responses):
        if source.tool in tools:
            continue
        close = nearest(source.tool, tools)
        problems.add(
            source.place,
            "unknown_tool",
            f"the buttons of '{name}' come from '{source.tool}', which is no tool of {owner}",
            f"did you mean '{close}'?" if close else "define it in the skill's tools.py",
        )


# ------------------------------------------------------------------ memory


def collected(
    memory: Iterable[MemoryField], skills: Iterable[Skill], dialect: Dialect
) -> tuple[MemoryField, ...]:
    """Mark the fields that a ``collect`` step fills: the model may set them.

    A project field stays the project's own, unless the project is a Maestro one.
    """
    filled = {
        (step.namespace, step.field)
        for skill in skills
        for block in skill.blocks
        for step in block.steps
        if isinstance(step, CollectStep)
        and (step.namespace != PROJECT_NAMESPACE or dialect == "maestro")
    }
    return tuple(
        dataclasses.replace(field, collected=True)
        if (field.namespace, field.name) in filled
        else field
        for field in memory
    )


# ------------------------------------------------------------------ no error, still worth a look


def remarks(
    skills: Iterable[Skill], responses: Mapping[str, Response], dialect: Dialect
) -> Iterator[str]:
    """Steps and blocks that nothing leads to, and questions that no answer can fill."""
    for skill in skills:
        if skill.packaged:
            continue
        for block in skill.blocks:
            reached = _reached(block)
            for step in block.steps:
                if step.id not in reached:
                    yield f"{step.place}: nothing leads to the step '{step.id}'"
                if dialect == "mantle" and _is_never_filled(step, responses):
                    yield (
                        f"{step.place}: nothing the caller says can fill this field of the "
                        "project: collect one of the skill, and let a tool set the project's"
                    )
        yield from _unused_blocks(skill)


_DEFAULT = ("default",)
"""What the ids of packaged skills begin with."""


def name_remarks(own: Iterable[str], packaged: Collection[str]) -> Iterator[str]:
    """Folders that look as if they took the place of a packaged skill, and don't."""
    for skill in own:
        if skill in packaged or not nearest(skill.partition("_")[0], _DEFAULT):
            continue
        close = nearest(skill, packaged, cutoff=0.8)
        mend = f"did you mean '{close}'?" if close else f"these are {listed(sorted(packaged))}"
        yield f"{SKILLS}/{skill}: no packaged skill is called '{skill}' ({mend})"


def said(skills: Iterable[Skill]) -> set[str]:
    """Names of all responses that some skill says."""
    found: set[str | None] = set()
    for skill in skills:
        found |= {rule.response for rule in skill.utters}
        for constraint in skill.constraints.values():
            found |= {constraint.on_success, constraint.on_failure}
            if constraint.confirmation is not None:
                found |= {constraint.confirmation.question, constraint.confirmation.denial}
        for step in (step for block in skill.blocks for step in block.steps):
            match step:
                case CollectStep(utterance=name):
                    found.add(name)
                case ActionStep(kind="utter", target=name):
                    found.add(name)
                case _:
                    pass
    return {name for name in found if name is not None}


def _is_never_filled(step: Step, responses: Mapping[str, Response]) -> bool:
    """Whether a ``collect`` asks for a project field, which only keys or buttons write."""
    if not isinstance(step, CollectStep) or step.namespace != PROJECT_NAMESPACE:
        return False
    asked = responses.get(step.utterance or "")
    has_buttons = asked is not None and any(variant.buttons for variant in asked.variants)
    return step.keys is None and not has_buttons


def _reached(block: Block) -> set[str]:
    reached: set[str] = set()
    ahead = [block.steps[0].id]
    while ahead:
        step_id = ahead.pop()
        step = block.step(step_id)
        if step is None or step_id in reached:
            continue
        reached.add(step_id)
        ahead += [branch.target for branch in step.next]
    # An END that closes the block is good style, also where every path ends before it.
    return reached | {END}


def _unused_blocks(skill: Skill) -> Iterator[str]:
    parts = [part for paragraph in skill.prose for part in paragraph.parts]
    steps = [step for block in skill.blocks for step in block.steps]
    named = {part.block for part in (*parts, *_in_steps(steps)) if isinstance(part, BlockToken)}
    named |= {
        step.target
        for step in steps
        if isinstance(step, CallStep | LinkStep) and step.kind == "block"
    }
    entry = skill.entry_block
    for block in skill.blocks:
        if block.id not in named and block is not entry:
            yield f"{block.place}: nothing leads to the block '{block.id}'"


def _in_steps(steps: Iterable[Step]) -> Iterator[ProsePart]:
    for step in steps:
        if isinstance(step, InstructStep):
            yield from step.instructions
