#include "models/experiments/scenario/network_section.hpp"

#include "topologies/scenario/cluster_config.hpp"

namespace athanor {

static void visit(Fields& fields, NicOffload& offload) {
  fields.optional("post", offload.post, "Of a host, to hand the collective over, in place of the profile's launch");
  fields.optional("overhead", offload.overhead, "Of a NIC, for each primitive; absent: the host's");
  fields.optional("reduce_rate", offload.reduce_rate, "Of a NIC; absent: the host's");
}

void visit(Fields& fields, NetworkSection& section) {
  visit(fields, section.settings);
  fields.optional("routing", section.routing,
                  "How one of several equally short paths is chosen; absent: as the fabric does", routing_names());
  fields.optional_value("fabric",
                        "Which of the cluster's \"fabrics\" ranks use; absent: the one with the most bandwidth out of "
                        "a node",
                        [&](FieldValue& value) { value.visit(section.fabric); });
  fields.optional(
      "pxn", section.pxn,
      "Whether data leaves a node by the NIC of the rail on which it arrives, over NVLink and the GPU beside "
      "that NIC; absent: only on rail_only");
  fields.optional_object("aggregation", section.aggregation,
                         "The engines that the switches have, which reduce and multicast; absent: none");
  fields.optional_object("offload", section.offload, "That NICs carry collectives out, and hosts only post them");
  section.routing_place = fields.place(fields.has("routing") ? "routing" : "pxn");
  section.fabric_place = fields.place("fabric");
}

}  // namespace athanor
