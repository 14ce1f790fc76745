"""What the offline planner can run of a project's skills.

Owns the reasons why it can't run one, for whoever checks a project. Nothing is read from disk.
"""

from runtime.project.skill_model import (
    BlockToken,
    CallStep,
    InstructStep,
    Skill,
    SkillToken,
    ToolToken,
)

__all__ = ["can_run"]

_MOST_WORDS = 25
"""Of prose around its one reference: more than that has something to say that is not followed."""


def can_run(skill: Skill) -> str | None:
    """Return why the planner can't run a skill, None if it can.

    Ordered blocks are run, a ``collect`` with or without an utterance too. Prose is not, unless it
    is no more than a reference to one block or skill; nor are sub agents, nor ``instructions``
    without a ``complete_when``.
    """
    if skill.prose:
        reason = _prose(skill)
        if reason is not None:
            return reason
    for block in skill.blocks:
        for step in block.steps:
            match step:
                case InstructStep(complete_when=None):
                    return f"step {step.id!r} has instructions and no complete_when"
                case CallStep(kind="sub_agent"):
                    return f"step {step.id!r} calls the sub agent {step.target!r}"
                case _:
                    pass
    return None


def _prose(skill: Skill) -> str | None:
    parts = [part for paragraph in skill.prose for part in paragraph.parts]
    references = {part for part in parts if isinstance(part, BlockToken | SkillToken)}
    words = sum(len(part.split()) for part in parts if isinstance(part, str))
    if any(isinstance(part, ToolToken) for part in parts):
        return "its prose calls tools"
    if len(references) == 1 and words <= _MOST_WORDS:
        return None
    return "its prose needs a language model; write it as an ordered block"
