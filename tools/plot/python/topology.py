"""A fabric, read for drawing: what is drawn of it, and where each thing stands."""

import collections
import math

import foreign

MOST_DRAWN = 1500  # devices; more are a grey mass


class Drawing:
    """Devices (nodes as one thing each) with their places, and the cables between them."""

    def __init__(self, document):
        document = used_fabric_of(document)
        names = [vertex["name"] for vertex in document["vertices"]]
        nodes = {name.split("/")[0] for name in names}
        # The inside of a node is drawn where there is nothing else.
        self.drawn_as = names if len(nodes) == 1 else [name.split("/")[0] for name in names]
        self.devices = list(dict.fromkeys(self.drawn_as))
        ends = {self.drawn_as[vertex] for vertex in document["endpoints"]}
        self.endpoints = [device for device in self.devices if device in ends]
        self.switches = [device for device in self.devices if device not in ends]
        self.kinds = {self.drawn_as[number]: vertex["kind"] for number, vertex in enumerate(document["vertices"])}
        self.cables = cables_of(document, self.drawn_as)
        self.neighbours = collections.defaultdict(list)
        for one, other in self.cables:
            self.neighbours[one].append(other)
            self.neighbours[other].append(one)
        picture = document.get("picture") or {}
        self.layout, self.sizes = picture.get("layout", "layers"), picture.get("sizes", [])
        self.closed = picture.get("closed", True)
        self.places = {}
        self.use_between, self.use_inside = self.most_used(document)

    def most_used(self, document):
        """What "share" links have at most: (device, device) -> share, and within a device: device -> share."""
        between, inside = {}, {}
        for link in document["links"]:
            ends, share = (self.drawn_as[link["from"]], self.drawn_as[link["to"]]), link.get("share", 0)
            most, key = (inside, ends[0]) if ends[0] == ends[1] else (between, ends)
            most[key] = max(most.get(key, 0), share)
        return between, inside


def used_fabric_of(document):
    """Of several fabrics side by side only the one that ranks use, without its name before those of its switches."""
    used = {fabric["name"]: fabric["used"] for fabric in document.get("fabrics", [])}
    if not used:
        return document
    kept, vertices = {}, []
    for number, vertex in enumerate(document["vertices"]):
        parts = vertex["name"].split("/")
        fabric = next((part for part in parts[:-1] if part in used), None)
        if fabric is None or used[fabric]:
            kept[number] = len(vertices)
            vertices.append({**vertex, "name": "/".join(part for part in parts if part != fabric)})
    links = [{**link, "from": kept[link["from"]], "to": kept[link["to"]]} for link in document["links"]
             if used.get(link.get("network"), True)]
    return {**document, "vertices": vertices, "links": links,
            "endpoints": [kept[endpoint] for endpoint in document["endpoints"]]}


def cables_of(document, drawn_as):
    """(one device, another) -> how many cables join them; within a device none."""
    links = collections.Counter()
    for link in document["links"]:
        ends = drawn_as[link["from"]], drawn_as[link["to"]]
        if ends[0] != ends[1]:
            links[ends] += 1
    order = {device: number for number, device in enumerate(dict.fromkeys(drawn_as))}
    return {ends: count for ends, count in links.items() if order[ends[0]] < order[ends[1]]}


def load(path):
    return placed(foreign.document(path), path)


def placed(document, source):
    """(the document, its drawing with every device in its place); `source`: where it is from, for messages."""
    missing = [key for key in ("description", "vertices", "links", "endpoints") if key not in document]
    if missing:
        raise foreign.InputError(f"{source}: no fabric: it has no {', '.join(missing)}")
    for link, share in zip(document["links"], document.get("use", {}).get("shares", [])):
        link["share"] = share
    drawing = Drawing(document)
    if len(drawing.devices) > MOST_DRAWN:
        raise foreign.InputError(f"{len(drawing.devices)} devices are more than the {MOST_DRAWN} that can be told apart in a "
                            "picture; draw a smaller cluster of the same kind")
    place_devices(drawing)
    return document, drawing


def on_circle(number, count, radius=1.0, middle=(0.0, 0.0), turn=0.0):
    angle = turn + math.pi / 2 - 2 * math.pi * number / max(count, 1)
    return middle[0] + radius * math.cos(angle), middle[1] + radius * math.sin(angle)


def coordinates(number, sizes):
    """The last dimension varies fastest."""
    found = []
    for size in reversed(sizes):
        found.append(number % size)
        number //= size
    return list(reversed(found))


def box_place(at, sizes):
    """The last two dimensions as a sheet, the one before as depth, further ones as copies side by side."""
    at, sizes = [0] * (2 - len(at)) + at, [1] * (2 - len(sizes)) + sizes
    x, y = float(at[-1]), -float(at[-2])
    if len(at) > 2:
        shift = 0.38 if sizes[-3] <= 3 else 1.1 / sizes[-3]
        x, y = x + shift * at[-3], y + 0.75 * shift * at[-3]
    for depth in range(len(at) - 4, -1, -1):
        if (len(at) - 4 - depth) % 2 == 0:
            x += at[depth] * (sizes[-1] + 0.9)
        else:
            y -= at[depth] * (sizes[-2] + 0.9)
    return x, y


def is_ring(drawing):
    """Whether a grid or box is drawn as a ring: one of a single dimension that closes on itself."""
    return drawing.closed and len([size for size in drawing.sizes if size > 1]) <= 1


def place_box(drawing, devices):
    if is_ring(drawing):
        radius = max(1.0, len(devices) / 6)
        drawing.places.update({device: on_circle(number, len(devices), radius)
                               for number, device in enumerate(devices)})
        return
    for number, device in enumerate(devices):
        drawing.places[device] = box_place(coordinates(number, drawing.sizes), drawing.sizes)


def place_groups(drawing, switches):
    """Groups on a ring, each a ring of its own; groups of two tiers as two arcs."""
    if len(drawing.sizes) == 3:
        place_arcs(drawing, switches)
        return
    groups, routers = drawing.sizes
    inner = 0.16 * max(routers, 3)
    outer = max(inner * 1.25, (inner + 0.3) * groups * 0.42)
    for number, switch in enumerate(switches):
        group, router = divmod(number, routers)
        middle = on_circle(group, groups, outer if groups > 1 else 0)
        turn = -2 * math.pi * group / groups
        drawing.places[switch] = on_circle(router, routers, inner if routers > 1 else 0, middle, turn)


def place_arcs(drawing, switches):
    groups, leaves, spines = drawing.sizes
    outer = max(1.2, 0.24 * groups * max(leaves, spines))
    for number, switch in enumerate(switches):
        is_leaf = number < groups * leaves
        group, place = divmod(number if is_leaf else number - groups * leaves, leaves if is_leaf else spines)
        width = leaves if is_leaf else spines
        angle = math.pi / 2 - 2 * math.pi * (group + (place + 0.5 - width / 2) / (1.35 * max(leaves, spines))) / groups
        radius = outer if is_leaf else outer - 0.85
        drawing.places[switch] = radius * math.cos(angle), radius * math.sin(angle)


def laid_out(drawing):
    """The devices that the sizes of a layout count: switches, or positions where they forward for themselves."""
    first, *others = drawing.sizes
    count = first * sum(others) if drawing.layout == "groups" else math.prod(drawing.sizes)
    return (drawing.switches if len(drawing.switches) >= count else drawing.devices)[:count]


def place_sheets(drawing, switches):
    """A table of sheets, each of columns of devices."""
    _, _, columns, rows = drawing.sizes
    for number, switch in enumerate(switches):
        down, across, column, row = coordinates(number, drawing.sizes)
        drawing.places[switch] = across * (columns + 1.2) + column, -(down * (rows + 1.2) + row) * 0.9


def middle_of(places):
    xs, ys = zip(*places)
    return sum(xs) / len(xs), sum(ys) / len(ys)


def place_hosts(drawing, outwards):
    """Each beside the switch that it is on: away from the middle of its group, or below."""
    endpoints = set(drawing.endpoints)
    ring = drawing.sizes[1] if drawing.layout == "groups" and len(drawing.sizes) == 2 else 1
    together = ring if ring > 1 else len(drawing.switches)
    for number, switch in enumerate(drawing.switches):
        own = [device for device in drawing.neighbours[switch] if device in endpoints]
        first = number - number % together
        middle = middle_of([drawing.places[other] for other in drawing.switches[first:first + together]])
        x, y = drawing.places[switch]
        away = math.atan2(y - middle[1], x - middle[0]) if outwards and (x, y) != middle else -math.pi / 2
        for number, host in enumerate(own):
            if host in drawing.places:
                continue
            angle = away + (number + 0.5 - len(own) / 2) * min(0.75, 2.2 / max(len(own), 1))
            drawing.places[host] = x + 0.36 * math.cos(angle), y + 0.36 * math.sin(angle)


def layers(drawing):
    """Devices by the number of cables to the nearest endpoint; what is joined to none comes last."""
    distance = {device: 0 for device in drawing.endpoints}
    waiting = collections.deque(drawing.endpoints)
    while waiting:
        device = waiting.popleft()
        for other in drawing.neighbours[device]:
            if other not in distance:
                distance[other] = distance[device] + 1
                waiting.append(other)
    found = collections.defaultdict(list)
    for device in drawing.devices:
        found[distance.get(device, max(distance.values(), default=0) + 1)].append(device)
    return found


def below(drawing, device):
    """The middle of what is below the device, where it has a place; what has nothing below it comes first."""
    places = [drawing.places[other][0] for other in drawing.neighbours[device] if other in drawing.places]
    return round(sum(places) / len(places), 6) if places else -math.inf


def place_layers(drawing):
    """Each device above the middle of what it is joined to, as far as that goes in even distances."""
    found = layers(drawing)
    widest = max(len(devices) for devices in found.values())
    width = max(widest * (0.6 if "/" in drawing.devices[0] and widest <= 16 else 0.42), 3.0)
    for height in sorted(found):
        devices = sorted(found[height], key=lambda device: below(drawing, device))
        for number, device in enumerate(devices):
            drawing.places[device] = (number + 0.5) / len(devices) * width, height * max(1.3, 0.16 * width)


def place_devices(drawing):
    place = {"grid": place_box, "box": place_box, "groups": place_groups, "sheets": place_sheets}.get(drawing.layout)
    if place is None:
        place_layers(drawing)
        return
    devices = laid_out(drawing)
    place(drawing, devices)
    place_at_ends(drawing, [switch for switch in drawing.switches if switch not in drawing.places])
    if devices == drawing.switches:
        place_hosts(drawing, outwards=drawing.layout == "groups" or drawing.layout == "box" and is_ring(drawing))


def place_at_ends(drawing, switches):
    """Switches beside a layout stand at the end of the row or column of what they join."""
    edge = {axis: max(abs(place[axis]) for place in drawing.places.values()) for axis in (0, 1)}
    for switch in switches:
        xs, ys = zip(*(drawing.places[other] for other in drawing.neighbours[switch] if other in drawing.places))
        along = 0 if max(xs) - min(xs) >= max(ys) - min(ys) else 1
        middle = [sum(xs) / len(xs), sum(ys) / len(ys)]
        middle[along] = (edge[along] + 1.3) * (1 if along == 0 else -1)
        while tuple(middle) in drawing.places.values():
            middle[along] += 0.8 if along == 0 else -0.8
        drawing.places[switch] = tuple(middle)


def dimension_of(drawing, one, other, devices):
    """Of a box: the dimension that a cable goes along, and whether it joins positions that stand side by side."""
    numbers = [coordinates(devices[device], drawing.sizes) for device in (one, other)]
    steps = [abs(a - b) for a, b in zip(*numbers)]
    differing = [d for d, step in enumerate(steps) if step]
    return differing[0] if differing else 0, sum(steps) == 1
