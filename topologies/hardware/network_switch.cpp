#include "topologies/hardware/network_switch.hpp"

namespace athanor {

void visit(Fields& fields, SwitchProperties& device) {
  fields.optional("rate", device.rate, "Line rate of a port, one direction", {Bandwidth{1}});
  fields.optional("radix", device.radix, "Ports", {2, 65'536});
  fields.optional("latency", device.latency, "Of forwarding");
  fields.optional("protocol", device.protocol, "What headers cost where hosts without a NIC are attached",
                  framing_names());
  fields.optional("hashes", device.hashes,
                  "Flows over equal paths, as Ethernet switches do: routing is ecmp by default");
}

void check_alone(Fields& fields, const SwitchProperties& device) {
  report_missing(fields, "a switch", {{"rate", device.rate.has_value()}, {"latency", device.latency.has_value()}});
}

void apply(const SwitchProperties& figures, SwitchPreset& device) {
  take(device.rate, figures.rate);
  take(device.radix, figures.radix);
  take(device.latency, figures.latency);
  take(device.protocol, figures.protocol);
  take(device.hashes, figures.hashes);
}

std::string name_of(const SwitchConfig& device) { return device.preset.empty() ? "switch" : device.preset; }

std::optional<SwitchPreset> made(const SwitchConfig& config, const std::map<std::string, SwitchPreset>& presets,
                                 Problems& problems) {
  SwitchPreset device;
  if (!config.preset.empty()) {
    const SwitchPreset* base = find_preset(presets, "switch", config.preset, config.place, problems);
    if (base == nullptr) { return std::nullopt; }
    device = *base;
  }
  apply(config.figures, device);
  return device;
}

}  // namespace athanor
