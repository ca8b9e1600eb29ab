#include "models/network/network_settings.hpp"

#include "sim/config/fields.hpp"

namespace athanor {

std::string_view name(NetworkLevel level) {
  switch (level) {
    case NetworkLevel::ideal: return "ideal";
    case NetworkLevel::flow: return "flow";
    case NetworkLevel::packet: return "packet";
  }
  return "";
}

std::string_view threads_hindrance(const NetworkSettings& settings) {
  if (settings.level != NetworkLevel::packet) { return "only packets are simulated on several"; }
  if (settings.skip_error > Ratio{0, 1}) {
    return "\"skip_error\" leaves out what has settled anywhere in the network";
  }
  const ControlWords& control = settings.packet.transport.control->words();
  if (control.telemetry) { return "the \"control\" reads what switches write into packets"; }
  if (control.receivers_ask) { return "the \"control\" lets receivers ask for packets"; }
  return "";
}

void visit(Fields& fields, NetworkSettings& settings) {
  fields.optional("level", settings.level,
                  "ideal: no contention; flow: links are shared, max-min fair; packet: queues and transports",
                  {{"ideal", NetworkLevel::ideal}, {"flow", NetworkLevel::flow}, {"packet", NetworkLevel::packet}});
  fields.optional("queue_pairs", settings.queue_pairs,
                  "Of a connection: flows that are hashed each on its own and carry equal shares of every message",
                  {1, kMostQueuePairs});
  fields.optional(
      "flow_rate", settings.flow_rate,
      "Most that one queue pair carries between nodes, as clouds limit single flows; absent: what its links do");
  fields.optional(
      "skip_error", settings.skip_error,
      "What has settled, and what changes rates a little, is left out, with at most about this error of a flow's "
      "time, or of a collective's; 0: what is exact alone",
      {{0, 1}, {1, 10}});
  visit(fields, settings.packet);
}

}  // namespace athanor
