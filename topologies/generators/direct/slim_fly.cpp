#include "topologies/generators/direct/slim_fly.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kLeast = 3;
constexpr std::uint32_t kMost = 256;

bool fits(std::uint32_t q) { return q >= kLeast && q <= kMost && prime_base(q) && q % 4 != 2; }

/// Exponents first, first + 2, ... up to last.
void add_powers(const GaloisField& field, std::uint32_t first, std::uint32_t last, std::vector<std::uint32_t>& set) {
  for (std::uint32_t exponent = first; exponent <= last; exponent += 2) { set.push_back(field.power(exponent)); }
}

/// X and X': every other power, so chosen that each is its own negative and both together are all elements but 0.
std::array<std::vector<std::uint32_t>, 2> generators(const GaloisField& field) {
  const std::uint32_t q = field.size();
  std::array<std::vector<std::uint32_t>, 2> sets;
  if (q % 4 != 3) {
    add_powers(field, 0, q - 2 - q % 4, sets[0]);
    add_powers(field, 1, q - 1 - q % 4, sets[1]);
    return sets;
  }
  const std::uint32_t w = (q + 1) / 4;
  add_powers(field, 0, 2 * w - 2, sets[0]);
  add_powers(field, 2 * w - 1, 4 * w - 3, sets[0]);
  add_powers(field, 1, 2 * w - 1, sets[1]);
  add_powers(field, 2 * w, 4 * w - 2, sets[1]);
  return sets;
}

}  // namespace

void check_slim_fly(std::uint32_t q) {
  if (fits(q)) { return; }
  std::uint32_t below = std::min(q, kMost);
  std::uint32_t above = std::max(q, kLeast);
  while (below > 0 && !fits(below)) { --below; }
  while (above <= kMost && !fits(above)) { ++above; }
  std::string hint = "use q = ";
  if (below > 0) { hint += fmt::format("{} ({} routers)", below, 2 * below * below); }
  if (below > 0 && above <= kMost) { hint += " or "; }
  if (above <= kMost) { hint += fmt::format("{} ({} routers)", above, 2 * above * above); }
  throw ScenarioError(
      Problem{"does-not-fit",
              fmt::format("a Slim Fly is made of a prime power q = 4 w + delta from {} to {} with delta "
                          "-1, 0 or 1, and {} is none",
                          kLeast, kMost, q),
              {},
              hint});
}

std::uint32_t balanced_hosts_per_router(std::uint32_t q) {
  const std::uint32_t cables = q + (q % 4 == 0 ? q / 2 : q % 4 == 1 ? (q - 1) / 2 : (q + 1) / 2);
  return (cables + 1) / 2;
}

SlimFly::SlimFly(std::uint32_t q) : field_(q), sets_(generators(field_)) {
  for (std::size_t half = 0; half < 2; ++half) {
    port_of_.at(half).assign(q, q);
    for (std::uint32_t port = 0; port < in_column(); ++port) { port_of_.at(half)[sets_.at(half)[port]] = port; }
  }
}

SlimFly::Place SlimFly::place(std::uint32_t router) const {
  const std::uint32_t q = field_.size();
  return {router / (q * q), router / q % q, router % q};
}

std::uint32_t SlimFly::number(const Place& place) const {
  return (place.half * field_.size() + place.column) * field_.size() + place.row;
}

std::uint32_t SlimFly::row_across(const Place& from, std::uint32_t column) const {
  const std::uint32_t product = field_.multiply(from.column, column);
  return from.half == 0 ? field_.subtract(from.row, product) : field_.add(from.row, product);
}

bool SlimFly::joined(std::uint32_t half, std::uint32_t from_row, std::uint32_t to_row) const {
  return port_of_.at(half)[field_.subtract(to_row, from_row)] < field_.size();
}

std::uint32_t SlimFly::neighbour(std::uint32_t router, std::uint32_t port) const {
  const Place from = place(router);
  if (port < in_column()) { return number({from.half, from.column, field_.add(from.row, sets_.at(from.half)[port])}); }
  const std::uint32_t column = port - in_column();
  return number({1 - from.half, column, row_across(from, column)});
}

void SlimFly::along(const Place& from, std::uint32_t row, Trail& trail) const {
  trail.take(number(from), port_of_.at(from.half)[field_.subtract(row, from.row)]);
}

void SlimFly::across(const Place& from, std::uint32_t column, Trail& trail) const {
  trail.take(number(from), in_column() + column);
}

void SlimFly::within_column(FlowDraws& draws, const Place& from, const Place& to, Trail& trail) const {
  if (joined(from.half, from.row, to.row)) {
    along(from, to.row, trail);
    return;
  }
  std::vector<std::uint32_t> between;
  for (const std::uint32_t difference : sets_.at(from.half)) {
    const std::uint32_t row = field_.add(from.row, difference);
    if (joined(from.half, row, to.row)) { between.push_back(row); }
  }
  require(!between.empty(), "a column of a Slim Fly of q = {} with a diameter above 2", field_.size());
  const std::uint32_t row = between[draws.below(static_cast<std::uint32_t>(between.size()))];
  along(from, row, trail);
  along({from.half, from.column, row}, to.row, trail);
}

void SlimFly::to_other_half(FlowDraws& draws, const Place& from, const Place& to, Trail& trail) const {
  const std::uint32_t met = row_across(from, to.column);  // where the cable to that column ends
  if (met == to.row) {
    across(from, to.column, trail);
    return;
  }
  const std::uint32_t start = row_across(to, from.column);  // from where a cable would lead to the target
  const bool first_along = joined(from.half, from.row, start);
  const bool then_along = joined(to.half, met, to.row);
  require(first_along || then_along, "a Slim Fly of q = {} with a diameter above 2", field_.size());
  if (first_along && (!then_along || draws.below(2) == 0)) {
    along(from, start, trail);
    across({from.half, from.column, start}, to.column, trail);
  } else {
    across(from, to.column, trail);
    along({to.half, to.column, met}, to.row, trail);
  }
}

void SlimFly::shortest(FlowDraws& draws, std::uint32_t from, std::uint32_t to, Trail& trail) const {
  if (from == to) { return; }
  const Place source = place(from);
  const Place target = place(to);
  if (source.half != target.half) {
    to_other_half(draws, source, target, trail);
  } else if (source.column == target.column) {
    within_column(draws, source, target, trail);
  } else {
    // The one column of the other half in which cables of both end at the same row: their lines meet there.
    const bool lower = source.half == 0;
    const std::uint32_t rows = field_.subtract(source.row, target.row);
    const std::uint32_t columns =
        lower ? field_.subtract(source.column, target.column) : field_.subtract(target.column, source.column);
    const std::uint32_t column = field_.divide(rows, columns);
    across(source, column, trail);
    across({1 - source.half, column, row_across(source, column)}, target.column, trail);
  }
}

void SlimFly::walk(Routing routing, FlowDraws draws, std::uint32_t from, std::uint32_t to, Trail& trail) const {
  std::uint32_t by_way_of = from;
  if (routing == Routing::valiant) {
    by_way_of = draws.below(routers());
    shortest(draws, from, by_way_of, trail);
  }
  shortest(draws, by_way_of, to, trail);
}

std::vector<RouterSet> SlimFly::sets() const {
  const std::uint32_t q = field_.size();
  return {{"column 0", {{0, q}}, false}, {"half of the columns", {{0, (q + 1) / 2 * q}, {q * q, q / 2 * q}}, true}};
}

}  // namespace athanor
