"""A schedule's messages, read for drawing: what is drawn of them, and how each is named and coloured."""

import collections

import foreign

MOST_ARROWS = 100    # of several parts; more hide each other
MOST_LABELLED = 16   # columns; between narrower ones there is no room for words
DENSE = 4            # arrows per column and round; more leave no room either
MIXED = -1           # colour key of an arrow that stands for messages of several colours


def load(path):
    return checked(foreign.document(path), path)


def checked(document, source):
    """The document, if it is a schedule; `source`: where it is from, for messages."""
    missing = [key for key in ("collective", "algorithm", "ranks", "agents", "rounds", "parts", "messages")
               if key not in document]
    if missing:
        raise foreign.InputError(f"{source}: no schedule: it has no {', '.join(missing)}")
    return document


def arrows_of(schedule, messages):
    """Messages between the same two in the same round as one: {"round", "from", "to", "adds", "label", "colour"}."""
    merged = collections.OrderedDict()
    for message in messages:
        merged.setdefault((message["round"], message["from"], message["to"], message["adds"]), []).append(message)
    arrows = []
    for (number, sender, receiver, adds), group in merged.items():
        keys = {colour_key(schedule, message) for message in group}
        arrows.append({"round": number, "from": sender, "to": receiver, "adds": adds,
                       "label": label(schedule, [run for message in group for run in message["carries"]]),
                       "colour": keys.pop() if len(keys) == 1 else MIXED})
    return arrows


def drawn_parts(schedule):
    """The first parts that together make few enough arrows; at least one."""
    by_part = collections.defaultdict(list)
    for message in schedule["messages"]:
        by_part[message["part"]].append(message)
    parts, messages = [], []
    for part in sorted(by_part):
        messages = messages + by_part[part]
        if parts and len(arrows_of(schedule, messages)) > MOST_ARROWS:
            break
        parts.append(part)
    return parts


def spans(numbers):
    """Ascending numbers as text: 0-3,7."""
    texts, first, last = [], None, None
    for number in sorted(numbers) + [None]:
        if first is not None and (number is None or number > last + 1):
            texts.append(str(first) if first == last else f"{first}-{last}")
            first = number
        if first is None:
            first = number
        last = number
    return ",".join(texts)


def by_origin(schedule):
    """Are pieces named after the rank whose input they are? Where nothing is added up and inputs are blocks."""
    return schedule["collective"] in ("all_gather", "gather", "all_to_all", "all_to_all_v")


def label(schedule, carried):
    """What is carried: pieces of the vector, or the ranks whose blocks they are; for all-to-all from>to."""
    if by_origin(schedule):
        origins = [run["origin"] for run in carried if "origin" in run]
        if schedule["collective"].startswith("all_to_all"):
            pairs = [f"{run['origin']}>{target(schedule, run['first'] + k)}" for run in carried if "origin" in run
                     for k in range(run["count"])]
            pairs = list(dict.fromkeys(pairs))
            return " ".join(pairs) if len(pairs) <= 2 else f"{len(pairs)} blocks"
        return spans(set(origins))
    return spans({run["first"] + k for run in carried if "first" in run for k in range(run["count"])})


def target(schedule, element):
    """The rank that an element of an all-to-all's input goes to."""
    return element // max(1, -(-schedule["count"] // schedule["ranks"]))


def colour_key(schedule, message):
    """Equal for messages of one colour: a part of the schedule where there are several, else what it carries first."""
    if schedule["parts"] > 1:
        return message["part"]
    run = next(iter(message["carries"]), {})
    return run.get("origin", 0) if by_origin(schedule) else run.get("first", 0)


def agent_name(schedule, agent):
    if agent < schedule["ranks"]:
        return str(agent)
    return {"nvswitch": "NVSwitch", "server": "server"}.get(schedule.get("engine"), f"engine {agent - schedule['ranks']}")
