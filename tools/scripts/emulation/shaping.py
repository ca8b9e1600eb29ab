"""How a link gets its rate: a token bucket on the interface that sends."""

MTU = 1500
ETHERNET_HEADER = 14
# What the wire carries beside what Linux counts: preamble 8, frame check sequence 4, gap between frames 12.
UNCOUNTED = 24
LEAST_FRAME = 84  # on the wire, gap and preamble included: 64 + 20
FRAME = MTU + ETHERNET_HEADER + UNCOUNTED
# TCP's window, and so what one connection may have in a queue. A round trip of a millisecond at 200 Mb/s is 25 kB;
# this is ten times that, and yet so little that queues can be made to hold every window.
WINDOW = 256 * 1024


# Tokens that come while the timer or the processor is late are lost beyond the bucket: with half a millisecond a ring of
# eight hosts on two processors loses some per cent of its rate. The price is that a link sends so much at once after a
# pause, 6.25 kB at 50 Mb/s.
BUCKET_SECONDS = 1e-3


def bucket(rate):
    """Bytes that may leave at once after a pause: at least two frames."""
    return max(2 * FRAME, int(rate / 8 * BUCKET_SECONDS))


def queue_limit(connections):
    """Bytes in front of a link: every connection's window with its headers, so that nothing is ever dropped."""
    return 2 * connections * WINDOW


def shape(interface, rate, connections, queue=None):
    """The tc command that gives an interface the line rate of Ethernet, framing and gaps included."""
    limit = queue if queue is not None else queue_limit(connections)
    return (f"qdisc replace dev {interface} root handle 1: tbf rate {rate}bit burst {bucket(rate)} limit {limit} "
            f"overhead {UNCOUNTED} mpu {LEAST_FRAME}")


# A rate that no class of the arbiter ever reaches: the bucket above it limits, classes only take turns.
_UNLIMITED = "100gbit"


def take_turns(interface, sources, limit):
    """The tc commands that make hosts, named by their addresses, take turns at a link, frame by frame.

    In one queue for all, a connection that begins at this device has a few frames waiting, for TCP holds back what its
    own device has not sent, and one that comes from afar a whole window: they would share the link by these.
    """
    lines = [f"qdisc add dev {interface} parent 1:1 handle 2: htb"]
    for number, source in enumerate(sources, 1):
        lines += [f"class add dev {interface} parent 2: classid 2:{number:x} htb rate {_UNLIMITED} quantum {FRAME}",
                  f"qdisc add dev {interface} parent 2:{number:x} bfifo limit {limit}",
                  f"filter add dev {interface} parent 2: protocol ip prio 1 u32 match ip src {source}/32 "
                  f"flowid 2:{number:x}"]
    return lines
