"""What the links and TCP counted: whether a run was what it was meant to be."""

import json
import subprocess

from . import plan

SECONDS = 60


def _output(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=SECONDS)
    return done.stdout


def links(fabric):
    """(link, bytes, frames, dropped) of each link, as its token bucket counted."""
    rows = []
    for vertex in range(len(fabric.vertices)):
        listed = json.loads(_output("tc", "-n", plan.namespace(fabric, vertex), "-s", "-j", "qdisc", "show"))
        by_interface = {each["dev"]: each for each in listed if each["kind"] == "tbf"}
        for link in fabric.links:
            if link.source == vertex:
                counted = by_interface[plan.interface(link)]
                rows.append((link, counted["bytes"], counted["packets"], counted["drops"]))
    return rows


def retransmitted(fabric):
    """TCP segments that any host sent again."""
    return sum(_retransmitted(_output("ip", "netns", "exec", plan.namespace(fabric, host), "cat", "/proc/net/snmp"))
               for host in fabric.endpoints)


def _retransmitted(snmp):
    names, values = (line.split() for line in snmp.splitlines() if line.startswith("Tcp:"))
    return int(values[names.index("RetransSegs")])


def table(fabric):
    """For people: every link, what it carried and dropped."""
    lines = [f"{'link':<24}{'Mb/s':>10}{'MB':>12}{'frames':>12}{'dropped':>10}"]
    for link, size, frames, dropped in links(fabric):
        ends = f"{fabric.name(link.source)} -> {fabric.name(link.target)}"
        lines.append(f"{ends:<24}{link.rate / 1e6:>10g}{size / 1e6:>12.3f}{frames:>12}{dropped:>10}")
    return "\n".join(lines)


def summary(fabric):
    """One line about a run."""
    counted = links(fabric)
    size, dropped = sum(row[1] for row in counted), sum(row[3] for row in counted)
    return (f"{size / 1e6:.1f} MB over {len(counted)} links, {dropped} frames dropped, {retransmitted(fabric)} segments "
            "sent again")
