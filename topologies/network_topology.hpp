#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "topologies/fabric/fabric.hpp"
#include "topologies/fabric/router.hpp"
#include "topologies/fabric/structure.hpp"
#include "topologies/population.hpp"

namespace athanor {

struct Cluster;

/// A network cable as generators take it.
struct CableSpec {
  Bandwidth rate;
  Bandwidth usable;  ///< at most `rate`
  Time propagation;  ///< of the cable
  Time forwarding;   ///< of a switch, added to every link that leaves one
};

/// A link over `cable` that leaves a switch, or a device that itself takes `forwarding`.
Link from_switch(const CableSpec& cable);
Link from_device(const CableSpec& cable, Time forwarding);

/// The cable of one attachment: no faster than a port of its NIC where the population is a mixture.
CableSpec host_cable(const CableSpec& cable, const Population& population, std::uint32_t attachment);

/// Routing::ugal chooses among so many shortest paths, and so many in all.
constexpr std::uint32_t kShortestPaths = 2;
constexpr std::uint32_t kAdaptivePaths = 6;

/// How a path is chosen where several are equally short.
struct RoutingChoice {
  Routing routing = Routing::ecmp;
  std::uint64_t seed = 0;
  bool pxn = false;        ///< data leaves the node by the NIC of the destination's rail
  bool relay = false;      ///< a GPU sends to a NIC that is not beside it over NVLink and a GPU that is
  std::uint32_t path = 0;  ///< of ugal: which of kAdaptivePaths; of d_mod_k: which of its detours
  std::optional<std::uint8_t> network = {};  ///< of several side by side the one that is routed on (Link::network)
};

/// How to route; what is absent as the fabric does by itself. Generators throw ScenarioError("routing") naming those
/// that the fabric can do when the one asked for is not among them, and where pxn is asked for without NICs and NVLink.
struct RoutingRequest {
  std::optional<Routing> routing;
  std::uint64_t seed = 0;
  /// Both of RoutingChoice. Absent: rails are kept to where the network is built for that, and GPUs relay where they
  /// can.
  std::optional<bool> pxn = {};
  std::string fabric = {};  ///< of several the name of the one that ranks use; "": as make_cluster.hpp says
};

/// The part of a fabric that joins attachments, computed from coordinates: a fat tree, a torus.
class NetworkTopology {
 public:
  virtual ~NetworkTopology() = default;

  /// "torus of 4 x 4": ends the description of a cluster.
  virtual std::string title() const = 0;
  virtual PictureHint picture() const { return {}; }
  /// The sides of a grid whose positions are the endpoints; zeros behind them, all zero where it is none (Cluster).
  virtual std::array<std::uint32_t, 6> sides() const { return {}; }

  virtual std::uint64_t vertices() const = 0;
  virtual std::uint64_t links() const = 0;
  /// Adds the switches, then the links; the attachments are there already. Once.
  virtual void add_vertices(FabricBuilder& builder) = 0;
  virtual void add_links(FabricBuilder& builder) const = 0;

  /// What of Routing makes sense here, the default first.
  virtual std::vector<Routing> routings() const = 0;
  /// Paths beside the usual one that tables may be filled with where links are down, 1 .. detours() as
  /// RoutingChoice::path: of d_mod_k.
  virtual std::uint32_t detours() const { return 0; }
  /// Appends the links from one attachment to another, different one.
  virtual void route(const Fabric& fabric, const RoutingChoice& choice, std::uint32_t from, std::uint32_t to,
                     std::uint64_t flow, std::vector<LinkId>& path) const = 0;

  /// Whether the members are the routers of a direct network: bare devices then forward for each other.
  virtual bool members_are_routers() const { return false; }
  /// Whether NIC r of a node reaches only NICs r of the others.
  virtual bool rails_apart() const { return false; }
  /// Whether it is built for traffic that stays on its rail: NICs of one number meet below the other tiers.
  virtual bool by_rails() const { return rails_apart(); }

  /// The sets of vertices that the structure suggests to cut off, halves last.
  virtual std::vector<CutSet> cut_sets() const = 0;
  virtual std::vector<TierSummary> tiers() const = 0;
  virtual std::vector<std::string> warnings() const = 0;
  /// Whether what is true of the routes of one member holds for all.
  virtual bool alike_from_every_node() const { return true; }
};

}  // namespace athanor
