"""Small fabrics as `athanor describe --fabric` writes them, and the package under test."""

import pathlib
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools/scripts"))

RATE = 6_250_000  # bytes a second: 50 Mb/s


def link(source, target, rate=RATE, latency_ps=5_000_000, kind="network"):
    return {"from": source, "to": target, "kind": kind, "rate_bytes_per_s": rate, "usable_bytes_per_s": rate,
            "latency_ps": latency_ps}


def document(hosts, switches, cables, routes):
    """`cables`: (vertex, vertex) or (vertex, vertex, rate); routes: lists of vertices. Hosts come first."""
    kinds = [(f"host{i}", "host") for i in range(hosts)] + [(f"leaf{i}", "leaf") for i in range(switches)]
    links = [each for one, other, *rate in cables for each in (link(one, other, *rate), link(other, one, *rate))]
    number = {(each["from"], each["to"]): place for place, each in reversed(list(enumerate(links)))}
    return {"description": f"{hosts} hosts", "vertices": [{"name": name, "kind": kind} for name, kind in kinds],
            "links": links, "endpoints": list(range(hosts)),
            "routes": [{"from": way[0], "to": way[-1], "links": [number[hop] for hop in zip(way, way[1:])],
                        "by_flow": False} for way in routes]}


def star(hosts=4, rate=RATE):
    ways = [(a, hosts, b) for a in range(hosts) for b in range(hosts) if a != b]
    return document(hosts, 1, [(host, hosts, rate) for host in range(hosts)], ways)


def racks(rate=RATE, uplink=RATE // 2):
    """Two of two hosts: leaves 4 and 5, joined by a thinner cable."""
    def way(a, b):
        return (a, 4 + a // 2, b) if a // 2 == b // 2 else (a, 4 + a // 2, 4 + b // 2, b)
    cables = [(host, 4 + host // 2, rate) for host in range(4)] + [(4, 5, uplink)]
    return document(4, 2, cables, [way(a, b) for a in range(4) for b in range(4) if a != b])


def ring(hosts=4):
    """Hosts that forward for each other, the shorter way round, ties upwards."""
    def way(a, b):
        step = 1 if (b - a) % hosts <= hosts // 2 else -1
        found = [a]
        while found[-1] != b:
            found.append((found[-1] + step) % hosts)
        return found
    cables = [(host, (host + 1) % hosts) for host in range(hosts)]
    return document(hosts, 0, cables, [way(a, b) for a in range(hosts) for b in range(hosts) if a != b])
