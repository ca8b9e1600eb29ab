#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/limits.hpp"
#include "sim/error.hpp"
#include "sim/ratio.hpp"
#include "sim/units.hpp"
#include "topologies/network_topology.hpp"

namespace athanor {

class Fields;
class FieldValue;

/// {"rate": "400Gb/s", "latency": "500ns", "efficiency": 0.97}: a cable of the network.
struct NetworkLink {
  Bandwidth rate;
  Time latency;  ///< the forwarding of the switch that it leaves included
  Ratio efficiency{1, 1};
};
void visit(Fields& fields, NetworkLink& link);

CableSpec cable_of(const NetworkLink& link);
/// The cable of a link of its own, where it has one.
CableSpec cable_or(const std::optional<NetworkLink>& link, const CableSpec& otherwise);

/// The figures of switches and cables, which nearly all kinds of fabric have.
struct Switching {
  std::optional<std::string> preset;   ///< "switch"
  std::optional<NetworkLink> link;     ///< every link of the network, where no preset is named
  Time cable_latency = Time{50'000};   ///< with a preset: 10 m of fibre at 5 ns/m
  std::optional<std::uint32_t> radix;  ///< ports of a switch; absent: as the preset says
  Place preset_place;
};
/// "switch", "link" and "cable_latency".
void visit(Fields& fields, Switching& switching);
/// "radix" of the switches of a fabric that has more than one.
void read_radix(Fields& fields, Switching& switching);

/// Bounds of keys: ports, or switches, hosts and cables on one switch; switches or positions in all.
constexpr std::uint32_t kMostPorts = 65'536;
constexpr std::uint32_t kMostCables = 4096;
constexpr std::uint32_t kMostPositions = 1U << 24U;
constexpr Range<std::uint32_t> kPortRange{1, kMostPorts};
constexpr Range<std::uint32_t> kCableRange{1, kMostCables};
constexpr Range<std::uint32_t> kPositionRange{1, kMostPositions};

/// A number of parallel cables, or a list of one for each dimension.
void read_cables(FieldValue& fields, std::vector<std::uint32_t>& cables);

}  // namespace athanor
