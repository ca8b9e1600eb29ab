#include "topologies/generators/torus.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

void check_torus(std::uint64_t members, const std::vector<std::uint32_t>& dimensions) {
  Wide positions = 1;
  for (const std::uint32_t size : dimensions) {
    positions *= size;
    if (positions > kNoNode) { break; }
  }
  if (positions == static_cast<Wide>(members)) { return; }
  throw ScenarioError(Problem{
      "does-not-fit",
      fmt::format("a torus of {} has {} positions, not {}", fmt::join(dimensions, " x "),
                  positions > kNoNode ? "too many" : fmt::format("{}", static_cast<std::uint64_t>(positions)), members),
      {},
      "make the number of nodes the product of the dimensions"});
}

Torus::Torus(const Population& population, const TorusSpec& spec) : population_(population), spec_(spec) {
  check_torus(population.members, spec.dimensions);
  std::uint32_t stride = population.members;
  for (const std::uint32_t size : spec.dimensions) {
    stride /= size;
    dimensions_.push_back({size, stride, first_nic_port_});
    first_nic_port_ += std::min(size - 1, 2U);
  }
}

std::uint64_t Torus::vertices() const { return population_.node ? population_.members : 0; }

std::uint64_t Torus::links() const {
  const std::uint64_t nics = population_.node ? 2ULL * population_.attachments() : 0;
  return nics + std::uint64_t{population_.members} * first_nic_port_;
}

void Torus::add_vertices(FabricBuilder& builder) {
  if (!population_.node) { return; }
  for (std::uint32_t position = 0; position < population_.members; ++position) {
    const VertexId added = builder.add({VertexKind::router, position, 0});
    if (position == 0) { first_router_ = added.value; }
  }
}

std::uint32_t Torus::moved(std::uint32_t position, const Dimension& d, std::uint32_t steps) const {
  const std::uint32_t at = coordinate(position, d);
  const std::uint32_t to = (at + steps) % d.size;
  return position - at * d.stride + to * d.stride;
}

void Torus::add_links(FabricBuilder& builder) const {
  const Link link = from_switch(spec_.cable);
  for (std::uint32_t position = 0; position < population_.members; ++position) {
    for (const Dimension& d : dimensions_) {
      if (d.size > 1) { builder.add_link(router(position), router(moved(position, d, 1)), link); }
      if (d.size > 2) { builder.add_link(router(position), router(moved(position, d, d.size - 1)), link); }
    }
  }
  if (!population_.node) { return; }
  const Link out = from_device(spec_.nic_cable, population_.forwarding());
  for (std::uint32_t a = 0; a < population_.attachments(); ++a) {
    builder.connect(population_.attachment(a), router(a / population_.attachments_each()), out,
                    from_switch(spec_.nic_cable));
  }
}

void Torus::route(const Fabric& fabric, const RoutingChoice& choice, std::uint32_t from, std::uint32_t to,
                  std::uint64_t /*flow*/, std::vector<LinkId>& path) const {
  require(choice.routing == Routing::dimension_order, "a torus routed by {}", name(choice.routing));
  const auto take = [&](VertexId v, std::uint32_t port) { path.push_back(LinkId{fabric.out(v).first + port}); };
  const std::uint32_t each = population_.attachments_each();
  const std::uint32_t target = to / each;
  std::uint32_t position = from / each;
  if (population_.node) { take(population_.attachment(from), population_.network_port(from)); }
  for (const Dimension& d : dimensions_) {
    const std::uint32_t ahead = (coordinate(target, d) + d.size - coordinate(position, d)) % d.size;
    const bool forward = std::uint64_t{ahead} * 2 <= d.size;
    const std::uint32_t hops = forward ? ahead : d.size - ahead;
    for (std::uint32_t hop = 0; hop < hops; ++hop) {
      take(router(position), d.port + (forward ? 0 : 1));
      position = moved(position, d, forward ? 1 : d.size - 1);
    }
  }
  if (population_.node) { take(router(target), first_nic_port_ + to % each); }
}

Division Torus::half(const Dimension& d, std::size_t number) const {
  Division half{fmt::format("half along dimension {}", number), {}, true};
  // Positions whose coordinate is in the lower half are runs of size / 2 * stride positions.
  const std::uint32_t run = d.size / 2 * d.stride;
  for (std::uint32_t first = 0; first < population_.members; first += d.size * d.stride) {
    half.inside.push_back({first * population_.vertices_each(), run * population_.vertices_each()});
    if (population_.node) { half.inside.push_back({router(first).value, run}); }
  }
  return half;
}

std::vector<Division> Torus::divisions() const {
  std::vector<Division> found;
  if (population_.node) {
    found.push_back({"position 0", {{0, population_.vertices_each()}, {router(0).value, 1}}, false});
  }
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    if (dimensions_[i].size > 1) { found.push_back(half(dimensions_[i], i)); }
  }
  return found;
}

}  // namespace athanor
