#include "tests/models/small_clusters.hpp"

#include "topologies/cluster.hpp"
#include "topologies/fabric/fabric_builder.hpp"

namespace athanor::testing {

namespace {

LinkId link_between(const Fabric& fabric, VertexId from, VertexId to) {
  const Fabric::OutLinks out = fabric.out(from);
  for (LinkId link{out.first}; link.value < out.first + out.count; ++link.value) {
    if (fabric.target(link) == to) { return link; }
  }
  return LinkId{0xffffffff};
}

/// Hosts 0 .. leaves * hosts_per_leaf - 1, then the leaves, then the spines.
class TreeRouter : public Router {
 public:
  TreeRouter(const Fabric& fabric, std::uint32_t hosts_per_leaf, std::uint32_t leaves)
      : fabric_(fabric), hosts_per_leaf_(hosts_per_leaf), leaves_(leaves) {}

  void route(const RouteRequest& request, std::vector<LinkId>& path) const override {
    if (request.from == request.to) { return; }
    const VertexId source_leaf = leaf(request.from);
    const VertexId target_leaf = leaf(request.to);
    path.push_back(link_between(fabric_, request.from, source_leaf));
    if (source_leaf != target_leaf) {
      const VertexId spine{hosts_per_leaf_ * leaves_ + leaves_ + request.to.value % leaves_};
      path.push_back(link_between(fabric_, source_leaf, spine));
      path.push_back(link_between(fabric_, spine, target_leaf));
    }
    path.push_back(link_between(fabric_, target_leaf, request.to));
  }

  std::unique_ptr<Router> with_seed(std::uint64_t) const override {
    return std::make_unique<TreeRouter>(fabric_, hosts_per_leaf_, leaves_);
  }

 private:
  VertexId leaf(VertexId host) const { return VertexId{hosts_per_leaf_ * leaves_ + host.value / hosts_per_leaf_}; }
  const Fabric& fabric_;
  std::uint32_t hosts_per_leaf_;
  std::uint32_t leaves_;
};

Cluster tree(std::uint32_t hosts_per_leaf, std::uint32_t leaves, std::uint32_t spines, const Link& link) {
  FabricBuilder builder;
  const std::uint32_t hosts = hosts_per_leaf * leaves;
  for (std::uint32_t h = 0; h < hosts; ++h) { builder.add({VertexKind::host, kNoNode, h}); }
  for (std::uint32_t l = 0; l < leaves; ++l) { builder.add({VertexKind::leaf, kNoNode, l}); }
  for (std::uint32_t s = 0; s < spines; ++s) { builder.add({VertexKind::spine, kNoNode, s}); }
  for (std::uint32_t h = 0; h < hosts; ++h) {
    builder.connect(VertexId{h}, VertexId{hosts + h / hosts_per_leaf}, link);
  }
  for (std::uint32_t l = 0; l < leaves; ++l) {
    for (std::uint32_t s = 0; s < spines; ++s) {
      builder.connect(VertexId{hosts + l}, VertexId{hosts + leaves + s}, link);
    }
  }
  Cluster cluster;
  cluster.fabric = std::make_unique<Fabric>(builder.build());
  cluster.router = std::make_unique<TreeRouter>(*cluster.fabric, hosts_per_leaf, leaves);
  for (std::uint32_t h = 0; h < hosts; ++h) { cluster.endpoints.push_back(VertexId{h}); }
  return cluster;
}

}  // namespace

Cluster star(std::uint32_t hosts, Bandwidth rate, Time latency) {
  return tree(hosts, 1, 0, {rate, rate, latency, LinkKind::network});
}

Cluster square_fat_tree(std::uint32_t leaves, Bandwidth rate, Time latency) {
  return tree(leaves, leaves, leaves, {rate, rate, latency, LinkKind::network});
}

}  // namespace athanor::testing
