"""The commands that build a fabric, and the names in it. Pure: nothing is run here."""

import dataclasses
import re

from . import shaping
from .fabric import cables
from .routes import forwarding

PREFIX = "athanor-"
CONTROL = PREFIX + "control"
DATA_SUBNET = "10.77.0.0/16"
CONTROL_SUBNET = "10.78.0.0/16"


@dataclasses.dataclass(frozen=True)
class Command:
    """What is run: its words, and what it reads on its standard input."""
    words: tuple
    text: str = ""


def namespace(fabric, vertex):
    return f"{PREFIX}{vertex}-{re.sub(r'[^A-Za-z0-9]+', '-', fabric.name(vertex))[:32]}"


def namespaces(fabric):
    return [namespace(fabric, vertex) for vertex in range(len(fabric.vertices))] + [CONTROL]


def host_name(rank):
    return f"rank{rank}"


def _numbered(prefix, number):
    return f"{prefix}.{number >> 8}.{number & 255}"


def data_address(rank):
    return _numbered("10.77", rank + 1)


def control_address(rank):
    return _numbered("10.78", rank + 1)


CONTROL_ADDRESS = "10.78.255.1"


def interface(link):
    """On the side that sends over this link."""
    return f"link{link.number}"


def _hop_address(link):
    """Of the interface that sends over this link: what its neighbour forwards to."""
    return _numbered("169.254", link.number + 256)


def _ethernet_address(link):
    return f"02:a7:00:00:{link.number >> 8:02x}:{link.number & 255:02x}"


# Two ends that do not segment for each other: every packet is one frame, as on a cable.
_ONE_FRAME = f"mtu {shaping.MTU} gso_max_segs 1 gso_max_size {shaping.MTU + shaping.ETHERNET_HEADER} up"


def _make_namespaces(fabric):
    return Command(("ip", "-batch", "-"), "".join(f"netns add {name}\n" for name in namespaces(fabric)))


def _make_cables(fabric):
    lines = []
    for one, other in cables(fabric):
        lines.append(f"link add name {interface(one)} address {_ethernet_address(one)} "
                     f"netns {namespace(fabric, one.source)} type veth peer name {interface(other)} "
                     f"address {_ethernet_address(other)} netns {namespace(fabric, other.source)}")
    for rank, vertex in enumerate(fabric.endpoints):
        lines.append(f"link add name control netns {namespace(fabric, vertex)} type veth peer name rank{rank} "
                     f"netns {CONTROL}")
    return Command(("ip", "-batch", "-"), "".join(line + "\n" for line in lines))


# Per namespace; what a machine sets elsewhere (another congestion control, say) does not reach in here.
SYSTEM_SETTINGS = {
    "net/ipv4/ip_forward": "1",
    "net/ipv4/conf/all/rp_filter": "0",
    "net/ipv4/conf/default/rp_filter": "0",
    "net/ipv4/conf/all/send_redirects": "0",
    "net/ipv4/conf/default/send_redirects": "0",
    "net/ipv6/conf/all/disable_ipv6": "1",
    "net/ipv6/conf/default/disable_ipv6": "1",
    "net/ipv4/tcp_congestion_control": "reno",
    "net/ipv4/tcp_no_metrics_save": "1",
    "net/ipv4/tcp_rmem": f"4096 {shaping.WINDOW} {shaping.WINDOW}",
    "net/ipv4/tcp_wmem": f"4096 {shaping.WINDOW} {shaping.WINDOW}",
}


def _set_up_system(name):
    script = "".join(f"[ ! -e /proc/sys/{path} ] || echo {value} > /proc/sys/{path}\n"
                     for path, value in SYSTEM_SETTINGS.items())
    return Command(("ip", "netns", "exec", name, "sh", "-e", "-s"), script)


def _set_up_vertex(fabric, vertex, table):
    out = [link for link in fabric.links if link.source == vertex]
    opposite = {one: other for pair in cables(fabric) for one, other in (pair, pair[::-1])}
    ranks = {host: rank for rank, host in enumerate(fabric.endpoints)}
    lines = ["link set lo up"] + [f"link set {interface(link)} {_ONE_FRAME}" for link in out]
    origin = ""
    if vertex in ranks:
        rank = ranks[vertex]
        origin = f" src {data_address(rank)}"
        lines.append(f"address add {data_address(rank)}/16 dev {interface(out[0])} noprefixroute")
        lines += ["link set control up", f"address add {control_address(rank)}/16 dev control"]
    for link in out:
        lines.append(f"neighbour add {_hop_address(opposite[link])} lladdr {_ethernet_address(opposite[link])} "
                     f"dev {interface(link)} nud permanent")
    for destination, link in sorted(table.items()):
        lines.append(f"route add {data_address(ranks[destination])}/32 via {_hop_address(opposite[link])} "
                     f"dev {interface(link)} onlink{origin}")
    return Command(("ip", "-n", namespace(fabric, vertex), "-batch", "-"), "".join(line + "\n" for line in lines))


def _set_up_control(fabric):
    lines = ["link set lo up", "link add name bridge type bridge", "link set bridge up",
             f"address add {CONTROL_ADDRESS}/16 dev bridge"]
    lines += [f"link set rank{rank} master bridge up" for rank in range(len(fabric.endpoints))]
    return Command(("ip", "-n", CONTROL, "-batch", "-"), "".join(line + "\n" for line in lines))


@dataclasses.dataclass(frozen=True)
class Queues:
    """In front of links. `size`: bytes, None for as many as TCP's windows can fill; `fair`: hosts take turns."""
    size: int = None
    fair: bool = True


def _shape_link(fabric, link, queues):
    # Between two ranks there are two connections at most in one direction.
    connections = 2 * len(fabric.endpoints)
    lines = [shaping.shape(interface(link), link.rate, connections, queues.size)]
    ranks = {host: rank for rank, host in enumerate(fabric.endpoints)}
    sources = sorted({ranks[source] for (source, _), route in fabric.routes.items() if link.number in route})
    if queues.fair and len(sources) > 1:
        limit = queues.size if queues.size is not None else shaping.queue_limit(connections)
        lines += shaping.take_turns(interface(link), map(data_address, sources), limit)
    return lines


def _shape_vertex(fabric, vertex, queues):
    lines = [line for link in fabric.links if link.source == vertex for line in _shape_link(fabric, link, queues)]
    return Command(("tc", "-n", namespace(fabric, vertex), "-batch", "-"), "".join(line + "\n" for line in lines))


def build(fabric, queues=Queues()):
    """All commands in order."""
    tables = forwarding(fabric)
    vertices = range(len(fabric.vertices))
    commands = [_make_namespaces(fabric), _make_cables(fabric)]
    commands += [_set_up_system(name) for name in namespaces(fabric)]
    commands += [_set_up_vertex(fabric, vertex, tables[vertex]) for vertex in vertices]
    commands.append(_set_up_control(fabric))
    commands += [_shape_vertex(fabric, vertex, queues) for vertex in vertices]
    return commands
