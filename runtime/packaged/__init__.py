"""The skills and responses that every agent has unless its project brings others of their name.

They are files of a project, read by the same readers: ``responses.yml`` and ``skills/<id>/``.
"""

from pathlib import Path

__all__ = ["FOLDER"]

FOLDER = Path(__file__).parent
"""Where they stand."""
