#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/engines/engine_limits.hpp"
#include "sim/error.hpp"
#include "topologies/fabric/fabric.hpp"

namespace athanor {

/// The switches of one network of a fabric and the cables between them, as far as they work both ways. Switches are
/// numbered from 0, in the order of their vertices.
class SwitchGraph {
 public:
  static constexpr std::uint32_t kFar = UINT32_MAX;
  /// Of one cable the two ports: at the switch itself, and at the other one.
  struct Edge {
    std::uint32_t to = 0;
    LinkId out;
    LinkId back;
  };
  /// Where an endpoint hangs: on a switch, at one of its ports.
  struct Attachment {
    std::uint32_t on = 0;
    LinkId port;
  };

  /// Borrows the fabric. `network`: the one, of several, that counts; none: all.
  explicit SwitchGraph(const Fabric& fabric, std::optional<std::uint8_t> network = std::nullopt);

  const Fabric& fabric() const { return fabric_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(vertices_.size()); }
  VertexId vertex(std::uint32_t number) const { return vertices_[number]; }
  /// In the order of the ports; several where cables run side by side.
  std::span<const Edge> edges(std::uint32_t number) const {
    return {edges_.data() + first_edge_[number], edges_.data() + first_edge_[number + 1]};
  }
  /// Does something that is no switch hang on it?
  bool next_to_endpoints(std::uint32_t number) const { return next_to_endpoints_[number]; }
  /// How many cables every switch is away; kFar: not joined.
  std::vector<std::uint32_t> distances(std::uint32_t from) const;

  /// The switch that is next to each endpoint, through as few devices of its node as there are; nothing: to none.
  std::vector<std::optional<Attachment>> attachments(std::span<const VertexId> endpoints) const;

 private:
  bool carries(LinkId link) const;
  void connect();
  std::optional<Attachment> port_to(VertexId device, std::uint32_t number) const;
  std::optional<Attachment> attachment(VertexId endpoint, std::vector<std::uint32_t>& seen, std::uint32_t round) const;

  const Fabric& fabric_;
  std::optional<std::uint8_t> network_;
  std::vector<VertexId> vertices_;
  std::vector<std::uint32_t> numbers_;  ///< by vertex; kFar: no switch
  std::vector<bool> next_to_endpoints_;
  std::vector<std::pair<VertexId, Attachment>> ports_;  ///< of switches, to devices that are none, by these
  std::vector<std::uint32_t> first_edge_;
  std::vector<Edge> edges_;
};

/// Which switches have an engine, by number: those of the limits' place whose names match one of its patterns.
std::vector<bool> engine_places(const SwitchGraph& graph, const EngineLimits& limits);

/// What is wrong with the patterns: the first one that matches no switch of the place ("no-such-switch"), with the
/// nearest name as its hint. The place in the user's input is for the caller to add.
std::optional<Problem> wrong_places(const SwitchGraph& graph, const EngineLimits& limits);

}  // namespace athanor
