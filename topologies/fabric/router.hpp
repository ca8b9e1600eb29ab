#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "topologies/fabric/fabric.hpp"

namespace athanor {

/// How one of several equally short paths is chosen. Inside nodes and down a fat tree there is nothing to choose.
enum class Routing : std::uint8_t {
  ecmp,             ///< by a seeded hash of the flow: equal-cost multi-path
  d_mod_k,          ///< up a fat tree by the destination's number modulo the number of up-links
  dimension_order,  ///< in a torus or HyperX one dimension after the other; round a torus by the shorter half
  minimal,          ///< in a dragonfly or Slim Fly the shortest path that its design knows, of several one by hash
  valiant,          ///< over a group or switch that a hash of the flow draws, to spread any traffic evenly
  ugal              ///< of a few minimal and valiant paths the least loaded one when a connection is opened
};

std::string_view name(Routing routing);

/// By which devices data leaves one node and enters another, as whoever lays out the traffic has chosen them: by their
/// numbers within the nodes (Vertex::index). A router that finds such a NIC down, or not on its network, chooses
/// itself.
struct NicChoice {
  static constexpr std::uint32_t kAny = 0xffffffff;
  std::uint32_t out = kAny;    ///< NIC of the sender; kAny: for the router to choose
  std::uint32_t in = kAny;     ///< NIC of the receiver; kAny: the same
  std::uint32_t relay = kAny;  ///< GPU of the sender's node by which it reaches `out`; kAny: directly
  /// NICs from `out` and from `in` on that flows of one connection take in turn. A router is asked for one flow.
  std::uint32_t out_ports = 1;
  std::uint32_t in_ports = 1;
};

/// From where to where, and what tells flows between the same two apart.
struct RouteRequest {
  VertexId from;
  VertexId to;
  std::uint64_t flow = 0;     ///< hashed where routing chooses among equal paths; equal requests take equal paths
  std::uint32_t path = 0;     ///< which of the router's paths(); 0: as short as it knows
  std::uint32_t channel = 0;  ///< of traffic that is spread: a GPU with several NICs takes them in turn
  NicChoice nics = {};
};

/// Chooses paths on one fabric. Pure: the same request always gives the same path. Thread-safe.
class Router {
 public:
  virtual ~Router() = default;
  /// Appends the links from `from` to `to`, in order; nothing when they are the same vertex.
  /// Throws SimulationError("no-route", ...), naming both, when there is no path.
  virtual void route(const RouteRequest& request, std::vector<LinkId>& path) const = 0;
  /// How many paths a request may be answered by, for whoever knows the load and chooses; 1: there is nothing to
  /// choose.
  virtual std::uint32_t paths() const { return 1; }
  /// Whether the path between two devices of a node is the same for every request, and stays in the node if there is
  /// one inside.
  virtual bool fixed_inside_nodes() const { return false; }
  /// The same router, whose hashes begin with another seed; borrows the same fabric.
  virtual std::unique_ptr<Router> with_seed(std::uint64_t seed) const = 0;
};

}  // namespace athanor
