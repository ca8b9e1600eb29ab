#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "sim/error.hpp"
#include "sim/ratio.hpp"
#include "sim/units.hpp"
#include "topologies/hardware/link_config.hpp"
#include "topologies/hardware/preset_names.hpp"

namespace athanor {

/// What headers leave of a line rate.
enum class Framing : std::uint8_t { none, infiniband, roce };
Names<Framing> framing_names();

/// Payload / all bytes on the wire, with packets of 4096 bytes of payload:
///  - infiniband: 4096 / 4122 (LRH 8, BTH 12, ICRC 4, VCRC 2); reliable connection, the 16 bytes of the RETH are in
///    the first packet of a message only;
///  - roce: 4096 / 4178 (preamble and gap 20, Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4).
/// Line rates (200 Gb/s of HDR) are what is left after the line code.
Ratio payload_share(Framing protocol);

struct NicPreset {
  Bandwidth rate;
  Framing protocol = Framing::none;
  Time latency;
  std::optional<LinkConfig> pcie;  ///< its port; of a preset for readers, as nodes have links of their own
  std::uint32_t card_ports = 1;    ///< so many NICs that follow each other are the ports of one card
  Provenance provenance;
};

/// The figures of a NIC that somebody gives.
struct NicProperties {
  std::optional<Bandwidth> rate;
  std::optional<Framing> protocol;
  std::optional<Time> latency;
  std::optional<LinkConfig> pcie;           ///< absent: as the node's other devices
  std::optional<std::uint32_t> card_ports;  ///< absent: 1
};
void visit(Fields& fields, NicProperties& nic);
/// Of one without a preset: what is missing.
void check_alone(Fields& fields, const NicProperties& nic);

/// "CX7-NDR", {"preset": "CX7-NDR", "rate": "200Gb/s"}, or all figures.
struct NicConfig {
  std::string preset;
  NicProperties figures;
  SourceLocation place;
};
/// As lists and summaries name it.
std::string name_of(const NicConfig& nic);

/// What the text leaves out comes from its preset. None, and a problem, where there is no such preset.
std::optional<NicPreset> made(const NicConfig& config, const std::map<std::string, NicPreset>& presets,
                              Problems& problems);
/// With these figures in place of its own.
void apply(const NicProperties& figures, NicPreset& nic);

}  // namespace athanor
