"""A model group becomes models; a provider's module is imported only when it is named."""

import subprocess
import sys
from pathlib import Path

import pytest

from runtime.errors import ProjectError
from runtime.models.factory import build_models
from runtime.models.offline.model import OfflineModel
from runtime.models.openai_model import OpenAIModel
from runtime.models.ports import ChatModel
from runtime.models.scripted_model import ScriptedModel
from tests.runtime.project.projects import project


class Mine:
    """An author's own engine."""

    def __init__(self, model: str, options: dict[str, object]) -> None:
        self.given = (model, options)


Model = Mine


def _build(tmp_path: Path, *models: str) -> tuple[ChatModel, ...]:
    text = f"model_groups:\n  - id: main\n    models: [{', '.join(models)}]\n"
    return build_models(project(tmp_path, {"integrations.yml": text}))


def test_models_are_built_in_the_order_of_the_group(tmp_path: Path):
    built = _build(
        tmp_path,
        "{provider: openai, model: gpt, api_base: 'http://127.0.0.1:1/v1'}",
        "{provider: offline}",
        "{provider: scripted, steps: [{say: Hi.}]}",
    )
    assert [type(model) for model in built] == [OpenAIModel, OfflineModel, ScriptedModel]


@pytest.mark.parametrize("name", [f"{__name__}:Mine", __name__])
def test_an_authors_engine_is_named_by_its_module(tmp_path: Path, name: str):
    (built,) = _build(tmp_path, f"{{provider: '{name}', model: x, depth: 2}}")
    assert isinstance(built, Mine)
    assert built.given == ("x", {"depth": 2})


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("{provider: 'nowhere.at.all', model: x}", "ModuleNotFoundError"),
        (f"{{provider: '{__name__}:Missing', model: x}}", "AttributeError"),
        ("{provider: scripted, steps: [{shout: Hi.}]}", "shout"),
        ("{provider: scripted, steps: [Hi.]}", "steps"),
        ("{provider: scripted, steps: 7}", "steps"),
    ],
)
def test_a_model_that_can_not_be_built_names_its_place(tmp_path: Path, model: str, words: str):
    with pytest.raises(ProjectError, match=words) as caught:
        _build(tmp_path, model)
    assert str(caught.value.problems[0].place) == "integrations.yml:3:14"


def test_the_openai_sdk_is_not_imported_for_a_project_that_does_not_name_it():
    """It costs over a second."""
    code = (
        "import sys, pathlib\n"
        "from runtime.project.loader import load\n"
        "from runtime.models.factory import build_models\n"
        "build_models(load(pathlib.Path('tests/projects/front_desk'), {}))\n"
        "assert 'openai' not in sys.modules\n"
    )
    root = Path(__file__).parents[3]
    subprocess.run([sys.executable, "-c", code], cwd=root, check=True, timeout=30)
