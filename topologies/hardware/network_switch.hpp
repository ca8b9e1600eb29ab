#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "sim/error.hpp"
#include "sim/units.hpp"
#include "topologies/hardware/nic.hpp"

namespace athanor {

struct SwitchPreset {
  Bandwidth rate;                      ///< of one port
  std::optional<std::uint32_t> radix;  ///< of presets; absent: as many as a network needs
  Time latency;
  Framing protocol = Framing::none;
  bool hashes = false;  ///< flows over equal paths, as Ethernet switches do unless told otherwise
  Provenance provenance;
};

/// The figures of a switch that somebody gives.
struct SwitchProperties {
  std::optional<Bandwidth> rate;
  std::optional<std::uint32_t> radix;
  std::optional<Time> latency;
  std::optional<Framing> protocol;
  std::optional<bool> hashes;
};
void visit(Fields& fields, SwitchProperties& device);
/// Of one without a preset: what is missing.
void check_alone(Fields& fields, const SwitchProperties& device);

/// "QM9700", {"preset": "QM9700", "latency": "300ns"}, or all figures.
struct SwitchConfig {
  std::string preset;
  SwitchProperties figures;
  SourceLocation place;
};
/// As bills name it: its preset, else "switch".
std::string name_of(const SwitchConfig& device);

/// What the text leaves out comes from its preset. None, and a problem, where there is no such preset.
std::optional<SwitchPreset> made(const SwitchConfig& config, const std::map<std::string, SwitchPreset>& presets,
                                 Problems& problems);
/// With these figures in place of its own.
void apply(const SwitchProperties& figures, SwitchPreset& device);

}  // namespace athanor
