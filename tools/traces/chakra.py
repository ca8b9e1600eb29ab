"""Chakra execution traces in protobuf, written byte by byte: a length before each message."""

import json

METADATA, COMPUTE, SEND, RECEIVE, COLLECTIVE = 1, 4, 5, 6, 7
ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER = 0, 2, 7


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def text(field, content):
    return block(field, content.encode())


def attribute(name, field, value):
    """Of Node.attr: `field` says of which type the value is (9: int64, 27: bool, 29: string)."""
    return block(10, text(1, name) + (text(field, value) if isinstance(value, str) else number(field, value)))


def delimited(message):
    return varint(len(message)) + message


def metadata():
    return delimited(text(1, "0.0.4"))


def node(identifier, name, kind, after=(), micros=0, inputs="", attributes=b""):
    message = number(1, identifier) + text(2, name) + number(3, kind)
    if after:
        message += block(5, b"".join(varint(other) for other in after))
    if micros:
        message += number(7, micros)
    if inputs:
        message += block(8, text(1, inputs))
    return delimited(message + attributes)


class Trace:
    """The nodes of one rank; each method returns the id of its node."""

    def __init__(self):
        self.parts = [metadata()]
        self.next = 1

    def bytes(self):
        return b"".join(self.parts)

    def add(self, name, kind, **rest):
        self.parts.append(node(self.next, name, kind, **rest))
        self.next += 1
        return self.next - 1

    def groups(self, ranks_of):
        listed = [{"pg_name": name, "ranks": ranks} for name, ranks in ranks_of.items()]
        return self.add("## process_group:init ##", METADATA, inputs=f"['{json.dumps(listed)}']",
                        attributes=attribute("is_cpu_op", 27, 1))

    def compute(self, name, micros, after=()):
        return self.add(name, COMPUTE, after=after, micros=micros, attributes=attribute("is_cpu_op", 27, 0))

    def collective(self, name, kind, size, group, after=()):
        return self.add(name, COLLECTIVE, after=after,
                        attributes=attribute("is_cpu_op", 27, 0) + attribute("comm_type", 9, kind) +
                        attribute("comm_size", 9, size) + attribute("pg_name", 29, group))


def json_text(nodes):
    """The JSON form, one node a line."""
    return '{"workload_graph": [\n' + ",\n".join(json.dumps(each) for each in nodes) + "\n]}\n"


def large(ranks, size):
    """Parts of a file of about `size` bytes: layers of a transformer whose all-reduces are over all ranks."""
    yield metadata()
    written, identifier, batch = 0, 1, []
    while written < size:
        for name, micros in (("aten::layer_norm", 12), ("aten::mm", 95), ("flash::attention", 140), ("aten::mm", 60)):
            after = [identifier - 1] if identifier > 1 else []
            batch.append(node(identifier, name, COMPUTE, after, micros, attributes=usual(identifier, 0)))
            identifier += 1
        batch.append(node(identifier, "nccl:all_reduce", COLLECTIVE, [identifier - 1],
                          attributes=usual(identifier, 0) + attribute("comm_type", 9, ALL_REDUCE) +
                          attribute("comm_size", 9, 4 * 1024 * 1024)))
        identifier += 1
        if len(batch) >= 1000:
            part = b"".join(batch)
            written += len(part)
            batch.clear()
            yield part
    yield b"".join(batch)


def usual(identifier, cpu):
    """What the converter of PyTorch's traces writes into every node."""
    return (attribute("is_cpu_op", 27, cpu) + attribute("rf_id", 9, identifier) + attribute("fw_parent", 9, 0) +
            attribute("seq_id", 9, identifier) + attribute("scope", 9, 0) + attribute("tid", 9, 1) +
            attribute("fw_tid", 9, 0) + attribute("op_schema", 29, "") + attribute("stream", 9, 7))
