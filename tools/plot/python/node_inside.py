"""The devices inside of a node: squares and circles with what they are, or rows of small ones with a caption."""

import collections

WORDS = {"gpu": "GPU", "nvswitch": "NVSwitch", "pcie_switch": "PCIe switch", "cpu": "CPU", "nic": "NIC"}
WITHIN = {"nvswitch": "NVSw", "pcie_switch": "PCIe"}  # what there is room for in a square
WIDEST = 16  # devices side by side, each with its name; of more
FEW = 2  # of a kind in a row have one


def kind_of(device):
    return device.split("/")[-1].rstrip("0123456789")


def rows_of(drawing):
    """Devices by their height, lowest first."""
    rows = collections.defaultdict(list)
    for device in drawing.devices:
        rows[drawing.places[device][1]].append(device)
    return [rows[height] for height in sorted(rows)]


def with_names(rows):
    """Those that are large enough to have their name in them."""
    named = set()
    for row in rows:
        counts = collections.Counter(map(kind_of, row))
        named |= {device for device in row if len(row) <= WIDEST or counts[kind_of(device)] <= FEW}
    return named


def counted(devices):
    """"72 GPUs, 1 NVSwitch"."""
    found = ((count, WORDS.get(kind, kind)) for kind, count in collections.Counter(map(kind_of, devices)).items())
    return ", ".join(f"{count} {word}{'' if count == 1 else 'es' if word.endswith('ch') else 's'}" for count, word in found)


def name_of(device):
    kind = kind_of(device)
    return f"{WITHIN.get(kind, WORDS.get(kind, kind))}\n{device.split('/')[-1][len(kind):]}"


def draw_devices(panel, drawing):
    rows = rows_of(drawing)
    named, ends = with_names(rows), set(drawing.endpoints)
    for large, end in ((False, False), (False, True), (True, False), (True, True)):  # the large ones on top
        devices = [device for device in drawing.devices if (device in named) == large and (device in ends) == end]
        if devices:
            panel.scatter(*zip(*(drawing.places[device] for device in devices)), s=520 if large else 30, marker="o" if end else "s",
                          facecolors="white", edgecolors="#777777" if end else "#222222", linewidths=1.0, zorder=4 if large else 3)
    for device in named:
        panel.text(*drawing.places[device], name_of(device), fontsize=6.5, ha="center", va="center", zorder=5, linespacing=1.05)
    left = min(place[0] for place in drawing.places.values())
    for row in rows:
        text = counted([device for device in row if device not in named])
        panel.text(left, drawing.places[row[0]][1] + 0.35, text, fontsize=9, va="bottom", color="#444444", zorder=5,
                   bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5} if text else None)
