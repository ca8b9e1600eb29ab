#include "topologies/fabric_builder.hpp"

#include <algorithm>

#include <boost/iterator/transform_iterator.hpp>

#include "sim/check.hpp"
#include "topologies/fabric_graph.hpp"

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
  // A stable counting sort by source: ports keep the order in which they were added.
  std::vector<std::uint32_t> next(vertices_.size() + 1, 0);
  for (const Pending& link : links_) { ++next[link.from + 1]; }
  for (std::size_t v = 1; v < next.size(); ++v) { next[v] += next[v - 1]; }
  std::vector<std::uint32_t> order(links_.size());
  for (std::uint32_t l = 0; l < links_.size(); ++l) { order[next[links_[l].from]++] = l; }

  const auto ends = [this](std::uint32_t l) { return std::pair(links_[l].from, links_[l].to); };
  const auto properties = [this](std::uint32_t l) -> const Link& { return links_[l].link; };
  auto graph = std::make_unique<FabricGraph>(
      boost::edges_are_sorted, boost::make_transform_iterator(order.begin(), ends),
      boost::make_transform_iterator(order.end(), ends), boost::make_transform_iterator(order.begin(), properties),
      static_cast<std::uint32_t>(vertices_.size()), static_cast<std::uint32_t>(links_.size()));
  for (std::uint32_t v = 0; v < vertices_.size(); ++v) { (*graph)[v] = vertices_[v]; }
  std::vector<std::uint32_t> sources(links_.size());
  for (std::size_t l = 0; l < order.size(); ++l) { sources[l] = links_[order[l]].from; }
  std::vector<Vertex>().swap(vertices_);
  std::vector<Pending>().swap(links_);
  named_ = {};
  network_ = 0;
  return Fabric(std::move(graph), std::move(sources), std::exchange(names_, {}), std::exchange(networks_, {}));
}

}  // namespace athanor
