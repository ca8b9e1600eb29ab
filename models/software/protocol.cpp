#include "models/software/protocol.hpp"

namespace athanor {

static void visit(Fields& fields, EngineCost& cost) {
  fields.optional("latency", cost.latency, "Of each message to or from an engine; overlaps with other messages");
  fields.optional("host_latency", cost.host_latency, "More of it between a rank and an engine");
  fields.optional("rate", cost.rate, "Payload rate of one channel on one hop; absent: only links limit");
  fields.optional("overhead", cost.overhead, "Of an engine, per message that it adds up or multicasts");
  fields.optional("reduce_rate", cost.reduce_rate,
                  "Of an engine: bytes of each input after the first; absent: line rate");
  fields.optional("grain", cost.grain, "Engines pass on so much at a time; 0B: whole messages");
  fields.optional("payload", cost.payload, "Payload bytes per byte on the wire of such a hop", {{1, 100}, {1, 1}});
  fields.optional("outstanding", cost.outstanding,
                  "Chunks of a channel that a rank has sent and whose sum it has not got; absent: as many as slots",
                  {1, 1'000'000});
  fields.optional("streaming", cost.streaming, "Takes a streaming tree of the aggregation manager");
}

static void visit_costs(Fields& fields, Protocol& protocol) {
  fields.optional("start", protocol.start, "Once per collective, beside the launch");
  fields.optional("overhead", protocol.overhead, "Of each primitive that sends or receives");
  fields.renamed("keep_rate", "unpack_rate");
  fields.optional("unpack_rate", protocol.unpack_rate,
                  "Payload rate of a channel that receives and passes nothing on; absent: free");
  fields.optional_object("node", protocol.node, "Hops within a node");
  fields.optional_object("network", protocol.network, "Hops between nodes");
  fields.optional_object("engine", protocol.engine, "Hops to and from the engine of NVSwitches");
  fields.optional_object("aggregation", protocol.aggregation, "What engines in switches of the network cost");
  fields.optional("payload", protocol.payload, "Payload bytes per byte on the wire", {{1, 100}, {1, 1}});
  fields.optional("grain", protocol.grain, "Receivers start on the first grain; 0B: on the whole message");
  fields.optional("engine_grain", protocol.engine_grain, "The same for NVSwitches, which stream");
  fields.optional_or("send_end", protocol.send_end, SendEnd::injected, "When a sender may go on",
                     {{"copied", SendEnd::copied},
                      {"paced", SendEnd::paced},
                      {"injected", SendEnd::injected},
                      {"delivered", SendEnd::delivered}});
  fields.optional("eager", protocol.eager, "Largest message that is sent without asking its receiver; absent: all");
  fields.optional("handshake", protocol.handshake, "Until a larger one may begin to move");
}

void visit(Fields& fields, Protocol& protocol) {
  fields.required("name", protocol.name, "As results name it");
  fields.optional("algorithms", protocol.algorithms, "That use it; absent: every one without an engine");
  fields.optional("from", protocol.from, "Smallest payload at which it is a candidate");
  fields.optional("to", protocol.to, "Largest payload at which it is a candidate");
  visit_costs(fields, protocol);
  fields.optional("slots", protocol.slots, "Messages that a connection holds", {1, 4096});
  fields.optional("channels", protocol.channels, "Most channels side by side", {1, 1024});
  fields.optional("least_per_channel", protocol.least_per_channel, "Payload that makes one more channel worth while",
                  {Bytes{1}});
  fields.optional("chunk", protocol.chunk, "Most payload of one chunk; absent: one loop", {Bytes{1}});
  fields.optional("halve_below", protocol.halve_below,
                  "The chunk is halved, in turn, while there are fewer loops than this", {1});
  fields.optional("slices", protocol.slices, "Messages per chunk", {1, 64});
  fields.optional("rotate", protocol.rotate, "Channel c's ring leaves each node from GPU c");
}

}  // namespace athanor
