#include "models/experiments/scenario/network_section.hpp"

#include "topologies/scenario/cluster_text.hpp"

namespace athanor {

namespace {

void read(ObjectReader& reader, NicOffload& offload) {
  reader.optional("post", offload.post, "Of a host, to hand the collective over, in place of the profile's launch");
  reader.optional("overhead", offload.overhead, "Of a NIC, for each primitive; absent: the host's");
  reader.optional("reduce_rate", offload.reduce_rate, "Of a NIC; absent: the host's");
}

}  // namespace

void read(ObjectReader& reader, NetworkSection& section) {
  reader.optional("level", section.level,
                  "ideal: no contention; flow: links are shared, max-min fair; packet: queues and transports",
                  {{"ideal", NetworkLevel::ideal}, {"flow", NetworkLevel::flow}, {"packet", NetworkLevel::packet}});
  reader.optional("routing", section.routing,
                  "How one of several equally short paths is chosen; absent: as the fabric does", routing_names());
  reader.optional_value("fabric",
                        "Which of the cluster's \"fabrics\" ranks use; absent: the one with the most bandwidth out of "
                        "a node",
                        [&](ValueReader& value) { value.read(section.fabric); });
  reader.optional(
      "pxn", section.pxn,
      "Whether data leaves a node by the NIC of the rail on which it arrives, over NVLink and the GPU beside "
      "that NIC; absent: only on rail_only");
  reader.optional("queue_pairs", section.queue_pairs,
                  "Of a connection: flows that are hashed each on its own and carry equal shares of every message",
                  {1, kMostQueuePairs});
  reader.optional_object("aggregation", "The engines that the switches have, which reduce and multicast; absent: none",
                         [&](ObjectReader& inner) { read(inner, section.aggregation.emplace()); });
  reader.optional_object("offload", "That NICs carry collectives out, and hosts only post them",
                         [&](ObjectReader& inner) { read(inner, section.offload.emplace()); });
  read(reader, section.packet);
  section.routing_place = reader.place(reader.has("routing") ? "routing" : "pxn");
  section.fabric_place = reader.place("fabric");
}

}  // namespace athanor
