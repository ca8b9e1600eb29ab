#include "topologies/kinds/grids.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/config/fields.hpp"
#include "sim/error.hpp"
#include "sim/words.hpp"
#include "topologies/generators/direct/direct_network.hpp"

namespace athanor {

namespace {

bool is_open(const LatticeShape& shape, std::size_t d) { return !shape.open.empty() && shape.open[d]; }

std::int64_t twist(const LatticeShape& shape, std::size_t i, std::size_t j) {
  return shape.twists.empty() ? 0 : shape.twists[i][j];
}

/// Each dimension before those that it shifts; shorter than there are dimensions where they shift in a circle.
std::vector<std::uint32_t> shifting_order(const LatticeShape& shape) {
  const auto count = static_cast<std::uint32_t>(shape.dimensions.size());
  std::vector<std::uint32_t> order;
  std::vector<bool> done(count, false);
  for (bool found = true; found;) {
    found = false;
    for (std::uint32_t d = 0; d < count; ++d) {
      bool shifted = done[d];
      for (std::uint32_t i = 0; i < count; ++i) { shifted = shifted || (!done[i] && twist(shape, i, d) != 0); }
      if (shifted) { continue; }
      done[d] = found = true;
      order.push_back(d);
    }
  }
  return order;
}

[[noreturn]] void refuse(const std::string& reason, const std::string& hint) {
  throw ScenarioError(Problem{"does-not-fit", reason, {}, hint});
}

void check_twists(const std::string& what, const LatticeShape& shape) {
  const std::size_t n = shape.dimensions.size();
  const bool square = shape.twists.size() == n && std::all_of(shape.twists.begin(), shape.twists.end(),
                                                              [&](const auto& row) { return row.size() == n; });
  if (!square) {
    refuse(fmt::format("the twists of {} of {} dimensions are a row for each, with a number for each", what, n),
           "in row i, how far dimension i shifts the others");
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (twist(shape, i, j) == 0) { continue; }
      if (is_open(shape, i) || is_open(shape, j)) {
        refuse(fmt::format("dimension {} shifts dimension {}, but both must close on themselves", i, j),
               "let both wrap, or write 0");
      }
    }
  }
  if (shifting_order(shape).size() < n) {
    refuse("dimensions shift each other in a circle, so that positions would fall together", "write 0 for one of them");
  }
}

}  // namespace

std::vector<std::vector<std::uint32_t>> tpu_v4_twists(const std::vector<std::uint32_t>& dimensions) {
  const std::size_t n = dimensions.size();
  std::vector<std::vector<std::uint32_t>> twists(n, std::vector<std::uint32_t>(n, 0));
  if (n == 0) { return twists; }
  const std::uint32_t least = *std::min_element(dimensions.begin(), dimensions.end());
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (dimensions[i] == least && dimensions[j] == 2 * least) { twists[i][j] = least; }
    }
  }
  return twists;
}

void check_grid(const std::string& what, const LatticeShape& shape) {
  check_box(what, shape.dimensions);
  if (!shape.open.empty() && shape.open.size() != shape.dimensions.size()) {
    refuse(fmt::format("{} of {} dimensions, but for {} it is said whether they wrap", what, shape.dimensions.size(),
                       shape.open.size()),
           "give a true or false for each dimension");
  }
  if (!shape.twists.empty()) { check_twists(what, shape); }
}

GridGraph::GridGraph(std::string name, const LatticeShape& shape)
    : name_(std::move(name)), shape_(shape), box_(shape.dimensions), order_(shifting_order(shape)) {
  for (std::uint32_t d = 0; d < box_.dimensions(); ++d) {
    twisting_.push_back(false);
    for (std::uint32_t j = 0; j < box_.dimensions(); ++j) { twisting_[d] = twisting_[d] || twist(shape, d, j) != 0; }
  }
  // In closed dimensions all positions are alike, so that the first shows how many ports they have.
  for (std::uint32_t d = 0; d < box_.dimensions(); ++d) {
    const std::uint32_t forward = moved(0, d, Direction::forward);
    cables_.push_back(forward == 0 ? 0 : forward == moved(0, d, Direction::back) ? 1 : 2);
  }
}

std::string GridGraph::title() const { return fmt::format("{} of {}", name_, joined(shape_.dimensions, " x ")); }

std::array<std::uint32_t, 6> GridGraph::sides() const {
  std::array<std::uint32_t, 6> found{};
  if (shape_.dimensions.size() <= found.size()) {
    std::copy(shape_.dimensions.begin(), shape_.dimensions.end(), found.begin());
  }
  return found;
}

bool GridGraph::is_vertex_transitive() const { return std::count(shape_.open.begin(), shape_.open.end(), true) == 0; }

bool GridGraph::has(std::uint32_t router, std::uint32_t d, Direction direction) const {
  const bool forward = direction == Direction::forward;
  if (!is_open(shape_, d)) { return cables_[d] == 2 || (cables_[d] == 1 && forward); }
  return forward ? box_.at(router, d) + 1 < box_.size(d) : box_.at(router, d) > 0;
}

std::uint32_t GridGraph::ports(std::uint32_t router) const {
  std::uint32_t count = 0;
  for (std::uint32_t d = 0; d < box_.dimensions(); ++d) {
    count += (has(router, d, Direction::forward) ? 1 : 0) + (has(router, d, Direction::back) ? 1 : 0);
  }
  return count;
}

std::uint32_t GridGraph::port(std::uint32_t router, std::uint32_t d, Direction direction) const {
  std::uint32_t before = 0;
  for (std::uint32_t i = 0; i < d; ++i) {
    before += (has(router, i, Direction::forward) ? 1 : 0) + (has(router, i, Direction::back) ? 1 : 0);
  }
  const bool second =
      direction == Direction::back && has(router, d, Direction::back) && has(router, d, Direction::forward);
  return before + (second ? 1 : 0);
}

std::uint32_t GridGraph::neighbour(std::uint32_t router, std::uint32_t port) const {
  for (std::uint32_t d = 0; d < box_.dimensions(); ++d) {
    for (const Direction direction : {Direction::forward, Direction::back}) {
      if (!has(router, d, direction)) { continue; }
      if (port == 0) { return moved(router, d, direction); }
      --port;
    }
  }
  require(false, "router {} of a grid has too few ports", router);
  return 0;
}

std::uint32_t GridGraph::moved(std::uint32_t router, std::uint32_t d, Direction direction) const {
  const std::uint32_t at = box_.at(router, d);
  const bool forward = direction == Direction::forward;
  const bool passes_end = forward ? at + 1 == box_.size(d) : at == 0;
  if (!passes_end) { return forward ? router + box_.stride(d) : router - box_.stride(d); }
  if (!twists(d)) { return box_.with(router, d, forward ? 0 : box_.size(d) - 1); }
  Steps coordinates{};
  for (std::uint32_t i = 0; i < box_.dimensions(); ++i) { coordinates.at(i) = box_.at(router, i); }
  coordinates.at(d) += forward ? 1 : -1;
  return position(coordinates);
}

std::uint32_t GridGraph::position(Steps coordinates) const {
  std::uint32_t result = 0;
  for (const std::uint32_t d : order_) {
    const std::int64_t size = box_.size(d);
    const std::int64_t inside = (coordinates.at(d) % size + size) % size;
    const std::int64_t rounds = (coordinates.at(d) - inside) / size;
    result += static_cast<std::uint32_t>(inside) * box_.stride(d);
    if (!twists(d) || rounds == 0) { continue; }
    for (std::uint32_t j = 0; j < box_.dimensions(); ++j) { coordinates.at(j) += rounds * twist(shape_, d, j); }
  }
  return result;
}

/// The steps of a shortest path, dimension after dimension in the order in which they shift each other. One that shifts
/// others is tried by all ways round that may still be shorter, those of fewer steps first.
class GridGraph::Search {
 public:
  explicit Search(const GridGraph& grid) : grid_(grid) {}

  Steps find(const Steps& differences) {
    go(0, differences, 0);
    return best_;
  }

 private:
  void go(std::uint32_t number, const Steps& left, std::int64_t taken) {
    if (taken >= least_) { return; }
    if (number == grid_.order_.size()) {
      least_ = taken;
      best_ = left;
      return;
    }
    const std::uint32_t d = grid_.order_[number];
    const std::int64_t size = grid_.box_.size(d);
    const std::int64_t ahead = (left.at(d) % size + size) % size;
    const bool forward = ahead * 2 <= size;
    if (is_open(grid_.shape_, d)) {
      go(number + 1, left, taken + std::abs(left.at(d)));
    } else if (!grid_.twists(d)) {
      Steps chosen = left;
      chosen.at(d) = forward ? ahead : ahead - size;
      go(number + 1, chosen, taken + std::abs(chosen.at(d)));
    } else {
      try_all(number, left, taken, forward ? ahead : ahead - size);
    }
  }

  void try_all(std::uint32_t number, const Steps& left, std::int64_t taken, std::int64_t nearest) {
    const std::uint32_t d = grid_.order_[number];
    const std::int64_t size = grid_.box_.size(d);
    // nearest, then one round less or more, alternately: never fewer steps than before.
    const std::int64_t other_way = nearest >= 0 ? -1 : 1;
    for (std::int64_t trial = 0;; ++trial) {
      const std::int64_t rounds = trial % 2 == 0 ? -other_way * (trial / 2) : other_way * (trial / 2 + 1);
      const std::int64_t chosen = nearest + rounds * size;
      if (taken + std::abs(chosen) >= least_) { return; }
      Steps next = left;
      next.at(d) = chosen;
      const std::int64_t passed = (left.at(d) - chosen) / size;  // ends that the path leaves out: their shifts are owed
      for (std::uint32_t j = 0; j < grid_.box_.dimensions(); ++j) { next.at(j) += passed * twist(grid_.shape_, d, j); }
      go(number + 1, next, taken + std::abs(chosen));
    }
  }

  const GridGraph& grid_;
  std::int64_t least_ = std::numeric_limits<std::int64_t>::max();
  Steps best_{};
};

GridGraph::Steps GridGraph::steps(std::uint32_t from, std::uint32_t to) const {
  Steps differences{};
  for (std::uint32_t d = 0; d < box_.dimensions(); ++d) {
    differences.at(d) = static_cast<std::int64_t>(box_.at(to, d)) - box_.at(from, d);
  }
  Steps found = Search(*this).find(differences);
  for (std::uint32_t d = 0; d < box_.dimensions(); ++d) {
    const bool tie = !is_open(shape_, d) && !twists(d) && found.at(d) * 2 == box_.size(d);
    if (tie && box_.at(from, d) % 2 == 1) { found.at(d) = -found.at(d); }
  }
  return found;
}

void GridGraph::walk(Routing routing, FlowDraws /*draws*/, std::uint32_t from, std::uint32_t to,
                     PathBuilder& path) const {
  require(routing == Routing::dimension_order, "a grid routed by {}", name(routing));
  const Steps left = steps(from, to);
  std::uint32_t router = from;
  for (std::uint32_t d = 0; d < box_.dimensions(); ++d) {
    const Direction direction = left.at(d) >= 0 ? Direction::forward : Direction::back;
    for (std::int64_t step = 0; step < std::abs(left.at(d)); ++step) {
      path.take(router, port(router, d, direction));
      router = moved(router, d, direction);
    }
  }
}

void read_positions(Fields& fields, VertexKind& positions) {
  fields.optional("positions", positions, "What stands at a position where there are no nodes",
                  {{"host", VertexKind::host}, {"gpu", VertexKind::gpu}});
}

void visit(Fields& fields, GridSettings& grid) {
  fields.required("dimensions", grid.dimensions, "Positions in each dimension", kPositionRange);
  fields.required_object("link", grid.switching.link.emplace(), "From a position to its neighbour");
  read_positions(fields, grid.positions);
}

std::shared_ptr<NetworkTopology> GridSettings::build(const FabricSite& site, const std::string& name,
                                                     const LatticeShape& shape) const {
  check_grid("a " + name, shape);
  return std::make_shared<DirectNetwork>(site.population, std::make_shared<GridGraph>(name, shape),
                                         DirectSpec{{}, {}, site.nic_cable, site.cable, site.cable});
}

}  // namespace athanor
