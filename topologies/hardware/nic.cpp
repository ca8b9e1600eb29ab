#include "topologies/hardware/nic.hpp"

namespace athanor {

Names<Framing> framing_names() {
  return {{"none", Framing::none}, {"infiniband", Framing::infiniband}, {"roce", Framing::roce}};
}

Ratio payload_share(Framing protocol) {
  switch (protocol) {
    case Framing::none: return {1, 1};
    case Framing::infiniband: return {4096, 4096 + 8 + 12 + 4 + 2};
    case Framing::roce: return {4096, 4096 + 20 + 14 + 20 + 8 + 12 + 4 + 4};
  }
  return {1, 1};
}

void visit(Fields& fields, NicProperties& nic) {
  fields.optional("rate", nic.rate, "Line rate of the network port, one direction", {Bandwidth{1}});
  fields.optional("protocol", nic.protocol, "What headers cost", framing_names());
  fields.optional("latency", nic.latency, "Of forwarding, each way");
  optional_link(fields, "pcie", "Its PCIe port; absent: as all devices of the node", nic.pcie);
  fields.optional("card_ports", nic.card_ports, "NICs that follow each other and are the ports of one card", {1, 16});
}

void check_alone(Fields& fields, const NicProperties& nic) {
  report_missing(
      fields, "a NIC",
      {{"rate", nic.rate.has_value()}, {"protocol", nic.protocol.has_value()}, {"latency", nic.latency.has_value()}});
}

void apply(const NicProperties& figures, NicPreset& nic) {
  take(nic.rate, figures.rate);
  take(nic.protocol, figures.protocol);
  take(nic.latency, figures.latency);
  take(nic.pcie, figures.pcie);
  take(nic.card_ports, figures.card_ports);
}

std::string name_of(const NicConfig& nic) { return nic.preset.empty() ? "NIC" : nic.preset; }

std::optional<NicPreset> made(const NicConfig& config, const std::map<std::string, NicPreset>& presets,
                              Problems& problems) {
  NicPreset nic;
  if (!config.preset.empty()) {
    const NicPreset* base = find_preset(presets, "NIC", config.preset, config.place, problems);
    if (base == nullptr) { return std::nullopt; }
    nic = *base;
  }
  apply(config.figures, nic);
  return nic;
}

}  // namespace athanor
