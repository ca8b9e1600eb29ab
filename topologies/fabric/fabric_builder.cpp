#include "topologies/fabric/fabric_builder.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/check.hpp"

namespace athanor {

namespace {

constexpr std::size_t kMaxLinks = 0xfffffffe;

}  // namespace

void FabricBuilder::reserve(std::size_t vertices, std::size_t links) {
  vertices_.reserve(vertices);
  links_.reserve(links);
}

void FabricBuilder::select_network(const std::string& name) {
  if (name.empty()) {
    network_ = 0;
    return;
  }
  const auto found = std::find(networks_.begin(), networks_.end(), name);
  network_ = static_cast<std::uint8_t>(found - networks_.begin() + 1);
  if (found != networks_.end()) { return; }
  require(networks_.size() < kMostNetworks, "more than {} networks", kMostNetworks);
  networks_.push_back(name);
}

VertexId FabricBuilder::add(const Vertex& vertex) {
  require(names_.empty(), "a vertex without a name among named ones");
  vertices_.push_back(vertex);
  vertices_.back().network = network_;
  return VertexId{static_cast<std::uint32_t>(vertices_.size() - 1)};
}

VertexId FabricBuilder::add_named(VertexKind kind, std::string name) {
  require(names_.size() == vertices_.size(), "a named vertex among those without a name");
  vertices_.push_back({kind, kNoNode, named_[static_cast<std::size_t>(kind)]++});
  names_.push_back(std::move(name));
  return VertexId{static_cast<std::uint32_t>(vertices_.size() - 1)};
}

void FabricBuilder::add_link(VertexId from, VertexId to, const Link& link) {
  require(from.value < vertices_.size() && to.value < vertices_.size(), "link {} -> {} among {} vertices", from.value,
          to.value, vertices_.size());
  require(from != to, "a link from vertex {} to itself", from.value);
  require(Bandwidth::zero() < link.usable && link.usable <= link.rate && link.latency >= Time::zero(),
          "link of {} B/s, usable {} B/s, latency {} ps", link.rate.count(), link.usable.count(), link.latency.count());
  require(links_.size() < kMaxLinks, "more links than ids");
  links_.push_back({from.value, to.value, link});
  links_.back().link.network = link.kind == LinkKind::network ? network_ : 0;
}

void FabricBuilder::connect(VertexId a, VertexId b, const Link& link) { connect(a, b, link, link); }

void FabricBuilder::connect(VertexId a, VertexId b, const Link& forth, const Link& back) {
  add_link(a, b, forth);
  add_link(b, a, back);
}

std::vector<std::uint32_t> FabricBuilder::ports(std::uint32_t vertices) const {
  std::vector<std::uint32_t> count(vertices, 0);
  for (const Pending& link : links_) {
    if (link.from < vertices) { ++count[link.from]; }
  }
  return count;
}

Fabric FabricBuilder::build() {
  Fabric fabric;
  fabric.vertices_ = std::exchange(vertices_, {});
  fabric.custom_names_ = std::exchange(names_, {});
  fabric.networks_ = std::exchange(networks_, {});
  fabric.first_.resize(fabric.vertices_.size() + 1);
  fabric.links_.resize(links_.size());
  fabric.sources_.resize(links_.size());
  fabric.targets_.resize(links_.size());
  // A stable counting sort by source: ports keep the order in which they were added.
  for (const Pending& link : links_) { ++fabric.first_[link.from + 1]; }
  std::partial_sum(fabric.first_.begin(), fabric.first_.end(), fabric.first_.begin());
  std::vector<std::uint32_t> next = fabric.first_;
  for (const Pending& link : links_) {
    const std::uint32_t number = next[link.from]++;
    fabric.links_[number] = link.link;
    fabric.sources_[number] = link.from;
    fabric.targets_[number] = link.to;
  }
  std::vector<Pending>().swap(links_);
  named_ = {};
  network_ = 0;
  return fabric;
}

}  // namespace athanor
