"""Why the testbed does not do what it was asked."""

OK, FAILED, USAGE, REFUSED, NO_FILE, NO_RIGHTS, INTERRUPTED = 0, 1, 2, 3, 4, 6, 130


class Refusal(Exception):
    """Says what is wrong and what to change; `code` is the exit code."""

    def __init__(self, message, code=REFUSED):
        super().__init__(message)
        self.code = code
