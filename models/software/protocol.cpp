#include "models/software/protocol.hpp"

namespace athanor {

namespace {

void read(ObjectReader& reader, EngineCost& cost) {
  reader.optional("latency", cost.latency, "Of each message to or from an engine; overlaps with other messages");
  reader.optional("host_latency", cost.host_latency, "More of it between a rank and an engine");
  reader.optional("rate", cost.rate, "Payload rate of one channel on one hop; absent: only links limit");
  reader.optional("overhead", cost.overhead, "Of an engine, per message that it adds up or multicasts");
  reader.optional("reduce_rate", cost.reduce_rate,
                  "Of an engine: bytes of each input after the first; absent: line rate");
  reader.optional("grain", cost.grain, "Engines pass on so much at a time; 0B: whole messages");
  reader.optional("payload", cost.payload, "Payload bytes per byte on the wire of such a hop", {{1, 100}, {1, 1}});
  reader.optional("outstanding", cost.outstanding,
                  "Chunks of a channel that a rank has sent and whose sum it has not got; absent: as many as slots",
                  {1, 1'000'000});
  reader.optional("streaming", cost.streaming, "Takes a streaming tree of the aggregation manager");
}

void read_costs(ObjectReader& reader, Protocol& protocol) {
  reader.optional("start", protocol.start, "Once per collective, beside the launch");
  reader.optional("overhead", protocol.overhead, "Of each primitive that sends or receives");
  reader.optional("keep_rate", protocol.keep_rate,
                  "Payload rate of a channel that receives and passes nothing on; absent: free");
  reader.optional_object("node", "Hops within a node", [&](ObjectReader& hop) { read(hop, protocol.node); });
  reader.optional_object("network", "Hops between nodes", [&](ObjectReader& hop) { read(hop, protocol.network); });
  reader.optional_object("engine", "Hops to and from the engine of NVSwitches",
                         [&](ObjectReader& hop) { read(hop, protocol.engine); });
  reader.optional_object("aggregation", "What engines in switches of the network cost",
                         [&](ObjectReader& cost) { read(cost, protocol.aggregation); });
  reader.optional("payload", protocol.payload, "Payload bytes per byte on the wire", {{1, 100}, {1, 1}});
  reader.optional("grain", protocol.grain, "Receivers start on the first grain; 0B: on the whole message");
  reader.optional("engine_grain", protocol.engine_grain, "The same for NVSwitches, which stream");
  reader.optional("send_end", protocol.send_end, "When a sender may go on",
                  {{"copied", SendEnd::copied},
                   {"paced", SendEnd::paced},
                   {"injected", SendEnd::injected},
                   {"delivered", SendEnd::delivered}});
  reader.optional("eager", protocol.eager, "Largest message that is sent without asking its receiver; absent: all");
  reader.optional("handshake", protocol.handshake, "Until a larger one may begin to move");
}

}  // namespace

void read(ObjectReader& reader, Protocol& protocol) {
  reader.required("name", protocol.name, "As results name it");
  reader.optional("algorithms", protocol.algorithms, "That use it; absent: every one without an engine");
  reader.optional("from", protocol.from, "Smallest payload at which it is a candidate");
  reader.optional("to", protocol.to, "Largest payload at which it is a candidate");
  read_costs(reader, protocol);
  reader.optional("slots", protocol.slots, "Messages that a connection holds", {1, 4096});
  reader.optional("channels", protocol.channels, "Most channels side by side", {1, 1024});
  reader.optional("least_per_channel", protocol.least_per_channel, "Payload that makes one more channel worth while",
                  {Bytes{1}});
  reader.optional("chunk", protocol.chunk, "Most payload of one chunk; absent: one loop", {Bytes{1}});
  reader.optional("halve_below", protocol.halve_below,
                  "The chunk is halved, in turn, while there are fewer loops than this", {1});
  reader.optional("slices", protocol.slices, "Messages per chunk", {1, 64});
  reader.optional("rotate", protocol.rotate, "Channel c's ring leaves each node from GPU c");
}

}  // namespace athanor
