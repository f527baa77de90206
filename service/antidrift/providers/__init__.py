"""Where tasks and knowledge come from: the adapters behind `ports.TaskSource` and `ports.KnowledgeSource`."""

from __future__ import annotations

from pathlib import Path

from antidrift.ports import KnowledgeSource, TaskSource
from antidrift.providers.knowledge import ProfileFile
from antidrift.providers.tasks import TaskFile, Taskwarrior, markdown_tasks, todo_txt_tasks

FORMATS = {"todo.txt": todo_txt_tasks, "markdown": markdown_tasks}


def task_source(source: str, path: Path | None, limit: int) -> TaskSource | None:
    """The source called "todo.txt", "markdown", "taskwarrior", or "none", which is None.

    `path` is the file, or for Taskwarrior the program (None: `task` on PATH); `limit` is the number of tasks offered.
    Raises ValueError for another name, or for a file format without a path.
    """
    match source:
        case "none":
            return None
        case "taskwarrior":
            return Taskwarrior(str(path or "task"), limit)
        case _ if source in FORMATS and path is not None:
            return TaskFile(path, FORMATS[source], limit)
        case _:
            raise ValueError(f"no task source {source!r} with path {path}")


def knowledge_source(path: Path | None) -> KnowledgeSource | None:
    """The profile at `path`; None if there is none."""
    return None if path is None else ProfileFile(path)
