#include "topologies/kinds/switching.hpp"

#include "sim/config/object_reader.hpp"

namespace athanor {

void read(ObjectReader& reader, NetworkLink& link) {
  reader.required("rate", link.rate, "Line rate, one direction");
  reader.required("latency", link.latency, "Of one link, the forwarding of the switch included");
  reader.optional("efficiency", link.efficiency, "Payload rate / line rate");
  if (link.efficiency.numerator == 0) {
    reader.problem("efficiency", "out-of-range", "an efficiency of 0 leaves no bandwidth");
  }
}

void read_network_link(ObjectReader& reader, std::string_view key, std::string_view meaning,
                       std::optional<NetworkLink>& link) {
  reader.optional_object(key, meaning, [&](ObjectReader& fields) {
    NetworkLink given;
    read(fields, given);
    if (!fields.describing()) { link = given; }
  });
}

CableSpec cable_of(const NetworkLink& link) {
  return {link.rate, scaled_down(link.rate, link.efficiency), link.latency, Time::zero()};
}

CableSpec cable_or(const std::optional<NetworkLink>& link, const CableSpec& otherwise) {
  return link ? cable_of(*link) : otherwise;
}

void read(ObjectReader& reader, Switching& switching) {
  reader.optional("switch", switching.preset, "A switch preset: port rate, latency and radix");
  read_network_link(reader, "link", "Every link of the network, where no switch is named", switching.link);
  reader.optional("cable_latency", switching.cable_latency, "Propagation of a cable, beside a switch's own latency");
  if (reader.describing()) { return; }
  switching.preset_place = reader.place("switch");
  if (switching.link && reader.has("cable_latency")) {
    reader.problem("cable_latency", "no-effect",
                   "'cable_latency' has no effect here: \"link\" says the latency of a link",
                   "add it to the latency of the link, or name a \"switch\" in place of \"link\"");
  }
  if (switching.preset.has_value() == switching.link.has_value() && reader.ok()) {
    reader.problem("", "missing-key", "a network needs either \"switch\" or \"link\"",
                   R"(write "switch": "QM9700", or "link": {"rate": "400Gb/s", "latency": "500ns"})");
  }
}

void read_radix(ObjectReader& reader, Switching& switching) {
  reader.optional("radix", switching.radix, "Ports of a switch; default: of the preset, else any", kPortRange);
}

void read_cables(ValueReader& reader, std::vector<std::uint32_t>& cables) {
  using Type = ValueReader::Form::Type;
  const auto one = [&](ValueReader& value) {
    std::uint32_t count = 1;
    value.read(count, kCableRange);
    cables = {count};
  };
  const auto several = [&](ValueReader& value) { value.read(cables, kCableRange); };
  reader.one_of({{Type::number, one}, {Type::list, several}});
}

}  // namespace athanor
