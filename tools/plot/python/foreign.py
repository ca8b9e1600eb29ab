"""JSON that anybody may have made: read with errors in words, and with names that can be shown."""

import json
import re

# Controls, marks that turn the direction of writing, ends of lines, halves of characters. No XML holds some of them, and a
# page or a picture shows others as what they are not.
NOT_SHOWN = "\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff"
OF_NAMES = re.compile(f"[{NOT_SHOWN}]")
OF_LINES = re.compile(f"[{NOT_SHOWN}]".replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))
SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


class ForeignError(ValueError):
    """The file is no JSON that can be read; the message says why."""


class InputError(Exception):
    """A file is not what it should be; the message says which, and what is wrong with it."""


def escape(found):
    return SHORT.get(found[0], f"\\u{ord(found[0]):04x}")


def printable(value):
    """The same with every text in it, keys too, such that it can be shown."""
    if isinstance(value, str):
        return OF_NAMES.sub(escape, value)
    if isinstance(value, list):
        return [printable(part) for part in value]
    if isinstance(value, dict):
        return {printable(key): printable(part) for key, part in value.items()}
    return value


def printable_lines(text):
    """Of a text of several lines, which stay."""
    return OF_LINES.sub(escape, text)


def refuse_constant(name):
    raise ForeignError(f"{name} is no number of JSON")


def loads(text):
    try:
        return json.loads(text, parse_constant=refuse_constant)
    except RecursionError as error:
        raise ForeignError("lists and objects are nested too deeply") from error


def load(path):
    """What a file holds, as it is. Throws OSError and ValueError."""
    return loads(path.read_text(encoding="utf-8"))


def load_printable(path):
    return printable(load(path))


def document(path):
    """What a file holds, with names that can be shown. Throws InputError."""
    try:
        return load_printable(path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}") from error
