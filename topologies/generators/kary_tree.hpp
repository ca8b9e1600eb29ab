#pragma once

#include <string>
#include <vector>

#include "topologies/network_structure.hpp"

namespace athanor {

struct KaryTreeSpec {
  std::uint32_t arity = 2;   ///< k: links down of every switch, and links up of all but those at the top
  std::uint32_t levels = 1;  ///< n
  CableSpec host_cable;
  CableSpec cable;  ///< between switches
};

/// A k-ary n-tree (Petrini and Vanneschi, "k-ary n-trees: high performance networks for massively parallel
/// architectures", IPPS 1997): n levels of k^(n-1) switches under which k^n hosts find place. Hosts p and switches w
/// are numbers in base k; host p is on switch p / k of level 0, and switch w of level l is joined to those k switches
/// of level l + 1 whose numbers differ from w in digit l at most.
///
/// Closed forms: k^n hosts, n k^(n-1) switches, n k^n cables, diameter 2n links, bisection k^n / 2 cables (k even).
///
/// Ports of a switch: up-link u leads to the switch whose digit l is u; then the links down in the order of hosts.
/// d-mod-k (Zahavi 2010) climbs by digit l of the destination at level l; ECMP by a hash; down there is one way.
class KaryTree : public NetworkStructure {
 public:
  /// Requires as many attachments as hosts find place, or fewer; see kary_tree_hosts.
  KaryTree(const Population& population, const KaryTreeSpec& spec);

  std::uint64_t vertices() const override { return std::uint64_t{spec_.levels} * width_; }
  std::uint64_t links() const override;
  void add_vertices(FabricBuilder& builder) override;
  void add_links(FabricBuilder& builder) const override;
  std::vector<Routing> routings() const override { return {Routing::d_mod_k, Routing::ecmp}; }
  void route(const Fabric& fabric, const RoutingChoice& choice, std::uint32_t from, std::uint32_t to,
             std::uint64_t flow, std::vector<LinkId>& path) const override;
  std::vector<Division> divisions() const override;
  std::vector<TierSummary> tiers() const override;
  std::vector<std::string> warnings() const override;

 private:
  bool top(std::uint32_t level) const { return level + 1 == spec_.levels; }
  std::uint32_t up_links(std::uint32_t level) const { return top(level) ? 0 : spec_.arity; }
  VertexId at(std::uint32_t level, std::uint32_t w) const { return VertexId{first_ + level * width_ + w}; }
  std::uint32_t digit(std::uint32_t number, std::uint32_t d) const { return number / powers_[d] % spec_.arity; }
  std::uint32_t with_digit(std::uint32_t number, std::uint32_t d, std::uint32_t value) const;
  VertexKind kind(std::uint32_t level) const;
  /// The first `count` subtrees of k^height hosts, with their switches.
  Division subtrees(std::string name, std::uint32_t height, std::uint32_t count) const;

  Population population_;
  KaryTreeSpec spec_;
  std::uint32_t width_ = 1;            ///< switches of a level
  std::vector<std::uint32_t> powers_;  ///< of k, up to k^n
  std::uint32_t first_ = 0;            ///< vertex
};

/// k^n; throws ScenarioError("does-not-fit") when that is beyond 2^31.
std::uint32_t kary_tree_hosts(std::uint32_t arity, std::uint32_t levels);

}  // namespace athanor
