#include "topologies/kinds/fabric_kind.hpp"

#include <algorithm>

#include "sim/config/fields.hpp"
#include "topologies/kinds/catalog.hpp"
#include "topologies/node/node_spec.hpp"

namespace athanor {

namespace {

/// What fabrics of all kinds have.
void read_common(Fields& fields, FabricSettings& fabric) {
  std::vector<std::uint32_t> nics;
  fields.optional("nics", nics, "The NICs of every node that are on it, counted from 0; absent: all",
                  {0, kMaxDevicesPerNode});
  if (fields.has("nics")) { fabric.nics = nics; }
}

}  // namespace

void visit(Fields& fields, NetworkLink& link) {
  fields.required("rate", link.rate, "Line rate, one direction");
  fields.required("latency", link.latency, "Of one link, the forwarding of the switch included");
  fields.optional("efficiency", link.efficiency, "Payload rate / line rate");
  if (link.efficiency.numerator == 0) {
    fields.problem("efficiency", "out-of-range", "an efficiency of 0 leaves no bandwidth");
  }
}

CableSpec cable_of(const NetworkLink& link) {
  return {link.rate, scaled_down(link.rate, link.efficiency), link.latency, Time::zero()};
}

CableSpec cable_or(const std::optional<NetworkLink>& link, const CableSpec& otherwise) {
  return link ? cable_of(*link) : otherwise;
}

void visit(Fields& fields, Switching& switching) {
  optional_device(fields, "switch", "A switch preset, one with changes, or a switch in full: port rate, latency, radix",
                  switching.device);
  fields.optional_object("link", switching.link, "Every link of the network, where no switch is named");
  fields.optional("cable_latency", switching.cable_latency, "Propagation of a cable, beside a switch's own latency");
  if (switching.link && fields.has("cable_latency")) {
    fields.problem("cable_latency", "no-effect",
                   "'cable_latency' has no effect here: \"link\" says the latency of a link",
                   "add it to the latency of the link, or name a \"switch\" in place of \"link\"");
  }
  if (fields.ok() && switching.device.has_value() == switching.link.has_value()) {
    fields.problem("", "missing-key", "a network needs either \"switch\" or \"link\"",
                   R"(write "switch": "QM9700", or "link": {"rate": "400Gb/s", "latency": "500ns"})");
  }
}

void read_radix(Fields& fields, Switching& switching) {
  fields.optional("radix", switching.radix, "Ports of a switch; default: of the preset, else any", kPortRange);
  if (fields.has("radix") && switching.device && switching.device->figures.radix) {
    fields.problem("radix", "conflict", "the \"switch\" says its own \"radix\"", "leave out one of them");
  }
}

void read_cables(FieldValue& value, std::vector<std::uint32_t>& cables) {
  using Type = FieldValue::Form::Type;
  const auto one = [&](FieldValue& number) {
    std::uint32_t count = 1;
    number.visit(count, kCableRange);
    cables = {count};
  };
  const auto several = [&](FieldValue& list) { list.visit(cables, kCableRange); };
  value.one_of({{Type::number, one}, {Type::list, several}});
}

Wide product(const std::vector<std::uint32_t>& sizes) {
  Wide result = 1;
  for (const std::uint32_t size : sizes) { result = std::min(result * size, kMostMembers); }
  return result;
}

std::uint32_t divided_up(Wide dividend, Wide divisor) {
  return static_cast<std::uint32_t>(std::min((dividend + divisor - 1) / divisor, kMostMembers >> 10U));
}

Wide members_on(Wide attachments, NicsPerNode nics) { return attachments / std::max(nics.value_or(1), 1U); }

void visit(Fields& fields, FabricSettings& fabric) {
  std::vector<Fields::Kind> kinds;
  for (const Topology& topology : topologies()) {
    kinds.push_back({topology.name, topology.summary, [&](Fields& inner) {
                       std::unique_ptr<FabricKind> kind = topology.make();
                       kind->visit(inner);
                       fabric.kind = std::move(kind);
                     }});
  }
  fields.choice("kind", "How nodes are joined", kinds);
  read_common(fields, fabric);
  fabric.place = fields.place();
  fabric.nics_place = fields.place("nics");
}

std::vector<std::string> keys_of(const Topology& topology) {
  const JsonValue schema = describe_schema("", [&](Fields& fields) {
    FabricSettings fabric;
    topology.make()->visit(fields);
    read_common(fields, fabric);
  });
  std::vector<std::string> keys;
  for (const auto& [key, described] : schema["properties"].members()) { keys.push_back(key); }
  return keys;
}

}  // namespace athanor
