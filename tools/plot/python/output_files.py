"""Files that are there as a whole or not at all, and names for them that nothing else has."""

import contextlib
import os
import pathlib
import re
import tempfile

MOST_LETTERS = 80  # of a name: file systems take 255 bytes, with an ending and a number


def umask():
    held = os.umask(0)
    os.umask(held)
    return held


@contextlib.contextmanager
def replacing(path):
    """A path beside `path` to write to, which takes its place in the end: until then, and where that fails (a full disk),
    what was there stays. What is no regular file (a pipe) is written as it is."""
    target = pathlib.Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        yield target
        return
    permissions = target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~umask()
    descriptor, beside = tempfile.mkstemp(prefix=f".{target.stem[:MOST_LETTERS]}.", suffix=target.suffix, dir=target.parent)
    os.close(descriptor)
    try:
        yield pathlib.Path(beside)
        os.chmod(beside, permissions)
        os.replace(beside, target)
    except BaseException:
        os.unlink(beside)
        raise


def write_text(path, text):
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8")


def stem_of(name):
    """Letters, digits and single hyphens: the name of a file without its ending, which leads out of no folder."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:MOST_LETTERS].strip("-") or "case"


class Stems:
    """Names of files without their endings, each once."""

    def __init__(self):
        self.used = set()

    def take(self, name):
        """Numbered where it is taken: names that differ in punctuation or in other alphabets alone do not overwrite each
        other."""
        plain, number = stem_of(name), 2
        stem = plain
        while stem in self.used:
            stem, number = f"{plain}-{number}", number + 1
        self.used.add(stem)
        return stem
