#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ids.hpp"
#include "sim/units.hpp"

namespace athanor {

using VertexId = Id<struct VertexTag>;
using LinkId = Id<struct LinkTag>;

enum class VertexKind : std::uint8_t {
  gpu,
  process,  ///< on a core of a CPU: an endpoint of nodes whose ranks are no GPUs
  cpu,
  memory,
  pcie_switch,
  nvswitch,
  nic,
  host,
  leaf,
  spine,
  core,
  router,  ///< of a direct network: a switch, or the part of a node that its NICs are on
  custom
};
enum class LinkKind : std::uint8_t { nvlink, c2c, pcie, socket, network };

constexpr std::uint32_t kVertexKinds = 13;
constexpr std::uint32_t kLinkKinds = 5;

std::string_view name(VertexKind kind);
std::string_view name(LinkKind kind);

/// Consecutive vertices of a fabric.
struct VertexRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

constexpr std::uint32_t kNoNode = 0xffffffff;

/// A device. `index` counts devices of its kind within its node, or in its network where `node` is kNoNode.
struct Vertex {
  VertexKind kind = VertexKind::custom;
  std::uint32_t node = kNoNode;
  std::uint32_t index = 0;
  std::uint8_t network =
      0;  ///< of several side by side (front end, back end) the number, from 1; 0: of none, or the one
};

/// One direction of a cable or bus. The lanes over which one transfer is striped (the x16 of PCIe, the NVLinks of a
/// GPU towards its NVSwitches) are one link of their total rate; parallel network cables are links of their own.
struct Link {
  Bandwidth rate;    ///< line rate, what the hardware bound counts with
  Bandwidth usable;  ///< payload rate after framing and protocol, at most `rate`; what simulations count with
  Time latency;      ///< propagation, and the forwarding of the device at its source
  LinkKind kind = LinkKind::network;
  bool down = false;         ///< is there, with its port, but carries nothing: routers go round it
  std::uint8_t network = 0;  ///< that a link of kind network belongs to; as of vertices
};

/// Networks side by side in one fabric.
constexpr std::uint32_t kMostNetworks = 255;

/// What is connected to what: a directed graph that never changes. Link ids are edge indices, ordered by source vertex,
/// and within one source in the order in which the links were added: the k-th of them is the vertex's port k.
class Fabric {
 public:
  Fabric(Fabric&&) noexcept = default;
  Fabric& operator=(Fabric&&) noexcept = default;
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;
  ~Fabric() = default;

  std::uint32_t vertices() const { return static_cast<std::uint32_t>(vertices_.size()); }
  std::uint32_t links() const { return static_cast<std::uint32_t>(links_.size()); }
  const Vertex& vertex(VertexId v) const { return vertices_[v.value]; }
  const Link& link(LinkId l) const { return links_[l.value]; }
  /// Replaces the figures of a link. Requires those of FabricBuilder::add_link, and that no route was asked for yet:
  /// routers remember what is down.
  void change(LinkId l, const Link& link);
  /// Links that are down; a cable that is down both ways counts twice.
  std::uint32_t links_down() const { return links_down_; }
  VertexId source(LinkId l) const { return VertexId{sources_[l.value]}; }
  VertexId target(LinkId l) const { return VertexId{targets_[l.value]}; }
  /// The links that leave v are [first, first + count).
  struct OutLinks {
    std::uint32_t first, count;
  };
  OutLinks out(VertexId v) const { return {first_[v.value], first_[v.value + 1] - first_[v.value]}; }
  /// "node3/gpu5", "leaf12", "storage/leaf12" of one of several networks, or the name given in an explicit list.
  std::string name(VertexId v) const;
  /// "node3/gpu5 -> node3/nvswitch0".
  std::string name(LinkId l) const;

 private:
  friend class FabricBuilder;
  Fabric() = default;

  std::vector<Vertex> vertices_;
  std::vector<Link> links_;
  std::vector<std::uint32_t> sources_;     // by link
  std::vector<std::uint32_t> targets_;     // by link
  std::vector<std::uint32_t> first_;       // by vertex, its first link; one more at the end
  std::vector<std::string> custom_names_;  // by vertex, only for explicit lists
  std::vector<std::string> networks_;      // names of those that are numbered, from number 1 on
  std::uint32_t links_down_ = 0;
};

}  // namespace athanor
