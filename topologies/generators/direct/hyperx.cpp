#include "topologies/generators/direct/hyperx.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

/// No switch of more ports is looked at: ports are counted in 32 bits.
constexpr std::uint64_t kMostPorts = 1U << 20U;

void check_ports(const std::string& what, const HyperXShape& shape) {
  std::uint64_t ports = 0;
  for (std::size_t d = 0; d < shape.dimensions.size(); ++d) {
    ports += std::uint64_t{d < shape.cables.size() ? shape.cables[d] : 1} * (shape.dimensions[d] - 1);
  }
  if (ports <= kMostPorts) { return; }
  throw ScenarioError(Problem{"does-not-fit",
                              fmt::format("{} in which every switch needs {} ports to others", what, ports),
                              {},
                              "spread the switches over more dimensions"});
}

/// The dimensions, where they make a shape.
const std::vector<std::uint32_t>& checked(const std::string& what, const HyperXShape& shape) {
  check_box(what, shape.dimensions);
  check_ports(what, shape);
  if (shape.cables.empty() || shape.cables.size() == shape.dimensions.size()) { return shape.dimensions; }
  throw ScenarioError(Problem{
      "does-not-fit",
      fmt::format("{} of {} dimensions, but {} numbers of cables", what, shape.dimensions.size(), shape.cables.size()),
      {},
      "give one number for all dimensions, or one for each"});
}

}  // namespace

HyperX::HyperX(const std::string& name, std::string title, const HyperXShape& shape)
    : title_(std::move(title)), box_(checked("a " + name, shape)), cables_(shape.cables), first_port_{0} {
  cables_.resize(shape.dimensions.size(), 1);
  for (std::uint32_t d = 0; d < box_.dimensions(); ++d) {
    first_port_.push_back(first_port_.back() + cables_[d] * (box_.size(d) - 1));
  }
}

std::uint32_t HyperX::neighbour(std::uint32_t router, std::uint32_t port) const {
  const auto after = std::upper_bound(first_port_.begin(), first_port_.end(), port);
  require(after != first_port_.begin() && after != first_port_.end(), "port {} of a HyperX", port);
  const auto d = static_cast<std::uint32_t>(after - first_port_.begin() - 1);
  const std::uint32_t other = (port - first_port_[d]) / cables_[d];
  return box_.with(router, d, other + (other >= box_.at(router, d) ? 1 : 0));
}

void HyperX::straight(FlowDraws& draws, std::uint32_t from, std::uint32_t to, PathBuilder& path) const {
  std::uint32_t router = from;
  for (std::uint32_t d = 0; d < box_.dimensions(); ++d) {
    const std::uint32_t at = box_.at(router, d);
    const std::uint32_t target = box_.at(to, d);
    if (at == target) { continue; }
    const std::uint32_t other = target - (target > at ? 1 : 0);
    path.take(router, first_port_[d] + other * cables_[d] + draws.below(cables_[d]));
    router = box_.with(router, d, target);
  }
}

void HyperX::walk(Routing routing, FlowDraws draws, std::uint32_t from, std::uint32_t to, PathBuilder& path) const {
  std::uint32_t middle = from;
  if (routing == Routing::valiant) {
    middle = draws.below(routers());
    straight(draws, from, middle, path);
  }
  straight(draws, middle, to, path);
}

}  // namespace athanor
