"""A timeline that `athanor run --trace` wrote, read for drawing: what each worker computed and communicated when."""

import collections

import foreign

USES = ["TP", "CP", "EP", "PP", "DP", "embedding", "other"]
MOST_TIME = 1e18  # microseconds, and numbers of processes
SAME = 1e-6  # milliseconds: times that the file's rounding keeps apart


def phase(label):
    """What a computation is part of, by its label."""
    if label.endswith("forward"):
        return "forward"
    if label.endswith("backward"):
        return "backward"
    if label == "gradients of weights":
        return "weights"
    if label.startswith("recomputed"):
        return "recomputed"
    return "optimizer" if label == "optimizer" else "computing"


class Worker:
    """One process of the timeline. Spans are (begin, end) in milliseconds, in order of time."""

    def __init__(self, name):
        self.name = name
        self.computing = []  # (begin, end, phase)
        self.communicating = collections.defaultdict(list)  # by use
        self.cuts = set()  # where a message begins: a task of the pipeline has ended

    def end(self):
        spans = self.computing + [span for use in self.communicating.values() for span in use]
        return max((span[1] for span in spans), default=0)


def events_of(path):
    events = foreign.document(path)
    events = events.get("traceEvents") if isinstance(events, dict) else events
    if not isinstance(events, list):
        raise foreign.InputError(f"{path}: expected Chrome trace events, as `athanor run --trace FILE` writes them")
    return [Event(path, number, event) for number, event in enumerate(events)]


class Event:
    """One event of a file; what is not as athanor writes it is refused with its place."""

    def __init__(self, path, number, fields):
        self.place, self.fields = f"{path}: /traceEvents/{number}", fields
        if not isinstance(fields, dict):
            raise foreign.InputError(f"{self.place} is no object")

    def word(self, key, default=None):
        value = self.fields.get(key, default)
        if not isinstance(value, str):
            raise foreign.InputError(f"{self.place}/{key} is no text")
        return value

    def number(self, key):
        value = self.fields.get(key)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= MOST_TIME:
            raise foreign.InputError(f"{self.place}/{key} is no number from 0 to {MOST_TIME:g}")
        return value

    def named(self):
        """What a process or a thread is called."""
        return self.inner("args").word("name")

    def inner(self, key):
        part = Event.__new__(Event)
        part.place, part.fields = f"{self.place}/{key}", self.fields.get(key)
        if not isinstance(part.fields, dict):
            raise foreign.InputError(f"{part.place} is no object")
        return part


def add_span(worker, event, track):
    begin = event.number("ts") * 1e-3
    span = (begin, begin + event.number("dur") * 1e-3)
    category = event.word("cat", "")
    if category == "compute":
        worker.computing.append((*span, phase(event.word("name"))))
    elif category in USES:
        worker.communicating[category].append(span)
    if category in ("PP", "wait") and track.startswith("send"):
        worker.cuts.add(begin)


def workers_of(path):
    """The workers of a timeline of training or of a trace, in order."""
    workers, tracks = {}, {}
    events = events_of(path)
    for event in events:
        if event.word("ph", "") != "M":
            continue
        if event.word("name") == "process_name":
            workers[event.number("pid")] = Worker(event.named())
        elif event.word("name") == "thread_name":
            tracks[event.number("pid"), event.number("tid")] = event.named()
    for event in events:
        if event.word("ph", "") == "X":
            process = event.number("pid")
            if process not in workers:
                raise foreign.InputError(f"{event.place}/pid: no process has this number")
            add_span(workers[process], event, tracks.get((process, event.number("tid")), ""))
    found = [worker for worker in workers.values() if worker.computing or worker.communicating]
    if not any(worker.computing for worker in found):
        raise foreign.InputError(f"{path}: nothing is computed in it; a timeline of training or of a replayed trace is drawn")
    for worker in found:
        worker.computing.sort()
        for spans in worker.communicating.values():
            spans.sort()
    return found


def joined(spans, cuts, gap):
    """Spans (begin, end, phase) of one phase that follow each other as one, unless a cut is between them."""
    result = []
    for begin, end, what in spans:
        last = result[-1] if result else None
        cut = last and any(last[1] - SAME < each < begin + SAME for each in cuts)
        if last and last[2] == what and begin - last[1] <= gap and not cut:
            result[-1] = (last[0], max(end, last[1]), what)
        else:
            result.append((begin, end, what))
    return result
