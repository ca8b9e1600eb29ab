#pragma once

#include <memory>
#include <string>
#include <vector>

#include "topologies/generators/clos.hpp"
#include "topologies/network_topology.hpp"

namespace athanor {

/// Several equal Clos networks side by side that nothing joins above:
///  - rail-only (Wang et al., "Rail-only: A Low-Cost High-Performance Network for Training LLMs with Trillion
///    Parameters", 2023): network r takes NIC r of every node, and what changes rails does so inside a node;
///  - planes (dual-plane: Qian et al., "Alibaba HPN", SIGCOMM 2024): each attachment has a port to every network. The
///    hash of a flow chooses the plane; where a link of its path is down there, the next plane takes it.
class Planes : public NetworkTopology {
 public:
  /// `shape`: of one network. `planes`: of `serves` one_port how many there are; of one_rail the NICs of a node.
  Planes(std::string title, const Population& population, const ClosShape& shape, const ClosSpec& cables,
         ClosPlane::Serves serves, std::uint32_t planes);

  std::string title() const override { return title_; }
  std::uint64_t vertices() const override { return planes_.size() * planes_.front().vertices(); }
  std::uint64_t links() const override { return planes_.size() * planes_.front().links(); }
  void add_vertices(FabricBuilder& builder) override;
  void add_links(FabricBuilder& builder) const override;
  std::vector<Routing> routings() const override { return planes_.front().routings(); }
  void route(const Fabric& fabric, const RoutingChoice& choice, std::uint32_t from, std::uint32_t to,
             std::uint64_t flow, std::vector<LinkId>& path) const override;
  std::uint32_t detours() const override { return planes_.front().detours(); }
  bool rails_apart() const override { return rails_; }
  std::vector<CutSet> cut_sets() const override;
  std::vector<TierSummary> tiers() const override;
  std::vector<std::string> warnings() const override { return planes_.front().warnings(); }

 private:
  std::string title_;
  Population population_;
  bool rails_;
  std::vector<Clos> planes_;
};

}  // namespace athanor
