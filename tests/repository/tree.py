"""The files of this repository, read from the working tree: a source archive has no git history to ask."""

import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE_SUFFIXES = {".hpp", ".cpp"}


def _of_the_project(name):
    return not name.startswith((".git", ".cache", "build")) and name not in {"out", "shared", "__pycache__"}


def files(*suffixes):
    """Paths of the repository's own files relative to its root, sorted; of all kinds where no suffix is named."""
    found = []
    for folder, folders, names in os.walk(ROOT):
        at_root = pathlib.Path(folder) == ROOT
        folders[:] = [name for name in folders if (_of_the_project(name) if at_root else name != "__pycache__")]
        # In a further working tree .git is a file that says where the first one is.
        found += [(pathlib.Path(folder) / name).relative_to(ROOT) for name in names if not (at_root and name == ".git")]
    return sorted(path for path in found if not suffixes or path.suffix in suffixes)


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


_COMMENT_OR_STRING = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^()\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-zA-Z_])\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL)


def without_comments_and_strings(source):
    """C++ with each comment and literal blanked out, its line ends kept, so that braces and line numbers still count."""
    return _COMMENT_OR_STRING.sub(lambda match: "\n" * match.group().count("\n"), source)
