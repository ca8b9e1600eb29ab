#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/config/fields.hpp"
#include "sim/error.hpp"
#include "topologies/generators/direct/direct_network.hpp"
#include "topologies/generators/direct/galois_field.hpp"
#include "topologies/kinds/fabric_kind.hpp"

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

/// Throws ScenarioError("does-not-fit") unless q is a prime power from 3 to 256 and q mod 4 is 0, 1 or 3; names those
/// beside it that fit.
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

/// The least number of endpoints per router at which a Slim Fly is balanced, ceil(k / 2) for k cables to other routers.
std::uint32_t balanced_hosts_per_router(std::uint32_t q) {
  const std::uint32_t cables = q + (q % 4 == 0 ? q / 2 : q % 4 == 1 ? (q - 1) / 2 : (q + 1) / 2);
  return (cables + 1) / 2;
}

/// Slim Fly (Besta, Hoefler, "Slim Fly: a cost effective low-diameter network topology", SC'14), the graphs of McKay,
/// Miller and Siran for a prime power q = 4 w + delta, delta in {-1, 0, 1}; p endpoints on each router:
///   endpoints  2 q^2 p
///   switches   2 q^2, of radix k + p, k = (3 q - delta) / 2
///   cables     q^2 k between routers
///   diameter   2 between routers, 4 between endpoints
///   halves     of the columns: q (q^2 + q mod 2) / 2 cables; at least the bisection, for which no closed form is known
///
/// Routers (s, x, y) with s in {0, 1}, x and y in GF(q), number s q^2 + x q + y. (0, x, y) and (0, x, y') are joined
/// where y - y' is in X, (1, m, c) and (1, m, c') where c - c' is in X', and (0, x, y) with (1, m, c) where y = m x +
/// c. X and X' are sets of powers of a primitive element (Hafner, "Geometric realisation of the graphs of McKay-Miller-
/// Siran", 2004).
///
/// Routing `minimal`: one hop or two; of several routers in between, one is drawn. `valiant`: minimal to a router drawn
/// by the flow and on from there, at most four hops.
///
/// Ports: those of X or X' in the order of the set, then the q routers of the other half in order of x or m.
class SlimFly : public ValiantGraph {
 public:
  /// Requires a q that check_slim_fly accepts.
  explicit SlimFly(std::uint32_t q) : field_(q), sets_(generators(field_)) {
    for (std::size_t half = 0; half < 2; ++half) {
      port_of_.at(half).assign(q, q);
      for (std::uint32_t port = 0; port < in_column(); ++port) { port_of_.at(half)[sets_.at(half)[port]] = port; }
    }
  }

  std::string title() const override {
    return fmt::format("Slim Fly of q = {} with {} routers", field_.size(), routers());
  }

  /// The two halves beside each other, a column of the field as a column.
  PictureHint picture() const override { return {"sheets", {1, 2, field_.size(), field_.size()}}; }

  std::uint32_t routers() const override { return 2 * field_.size() * field_.size(); }
  std::uint32_t ports(std::uint32_t /*router*/) const override { return in_column() + field_.size(); }
  std::uint32_t neighbour(std::uint32_t router, std::uint32_t port) const override {
    const Place from = place(router);
    if (port < in_column()) {
      return number({from.half, from.column, field_.add(from.row, sets_.at(from.half)[port])});
    }
    const std::uint32_t column = port - in_column();
    return number({1 - from.half, column, row_across(from, column)});
  }

  std::vector<RouterSet> cut_sets() const override {
    const std::uint32_t q = field_.size();
    return {{"column 0", {{0, q}}, false}, {"half of the columns", {{0, (q + 1) / 2 * q}, {q * q, q / 2 * q}}, true}};
  }

 private:
  struct Place {
    std::uint32_t half, column, row;
  };
  Place place(std::uint32_t router) const {
    const std::uint32_t q = field_.size();
    return {router / (q * q), router / q % q, router % q};
  }

  std::uint32_t number(const Place& place) const {
    return (place.half * field_.size() + place.column) * field_.size() + place.row;
  }

  std::uint32_t in_column() const { return static_cast<std::uint32_t>(sets_[0].size()); }
  /// The row at which a router's cable to a column of the other half ends.
  std::uint32_t row_across(const Place& from, std::uint32_t column) const {
    const std::uint32_t product = field_.multiply(from.column, column);
    return from.half == 0 ? field_.subtract(from.row, product) : field_.add(from.row, product);
  }

  bool joined(std::uint32_t half, std::uint32_t from_row, std::uint32_t to_row) const {
    return port_of_.at(half)[field_.subtract(to_row, from_row)] < field_.size();
  }

  void along(const Place& from, std::uint32_t row, PathBuilder& path) const {
    path.take(number(from), port_of_.at(from.half)[field_.subtract(row, from.row)]);
  }

  void across(const Place& from, std::uint32_t column, PathBuilder& path) const {
    path.take(number(from), in_column() + column);
  }

  void walk_directly(FlowDraws& draws, std::uint32_t from, std::uint32_t to, PathBuilder& path) const override {
    if (from == to) { return; }
    const Place source = place(from);
    const Place target = place(to);
    if (source.half != target.half) {
      to_other_half(draws, source, target, path);
    } else if (source.column == target.column) {
      within_column(draws, source, target, path);
    } else {
      // The one column of the other half in which cables of both end at the same row: their lines meet there.
      const bool lower = source.half == 0;
      const std::uint32_t rows = field_.subtract(source.row, target.row);
      const std::uint32_t columns =
          lower ? field_.subtract(source.column, target.column) : field_.subtract(target.column, source.column);
      const std::uint32_t column = field_.divide(rows, columns);
      across(source, column, path);
      across({1 - source.half, column, row_across(source, column)}, target.column, path);
    }
  }

  void within_column(FlowDraws& draws, const Place& from, const Place& to, PathBuilder& path) const {
    if (joined(from.half, from.row, to.row)) {
      along(from, to.row, path);
      return;
    }
    std::vector<std::uint32_t> between;
    for (const std::uint32_t difference : sets_.at(from.half)) {
      const std::uint32_t row = field_.add(from.row, difference);
      if (joined(from.half, row, to.row)) { between.push_back(row); }
    }
    require(!between.empty(), "a column of a Slim Fly of q = {} with a diameter above 2", field_.size());
    const std::uint32_t row = between[draws.below(static_cast<std::uint32_t>(between.size()))];
    along(from, row, path);
    along({from.half, from.column, row}, to.row, path);
  }

  void to_other_half(FlowDraws& draws, const Place& from, const Place& to, PathBuilder& path) const {
    const std::uint32_t met = row_across(from, to.column);  // where the cable to that column ends
    if (met == to.row) {
      across(from, to.column, path);
      return;
    }
    const std::uint32_t start = row_across(to, from.column);  // from where a cable would lead to the target
    const bool first_along = joined(from.half, from.row, start);
    const bool then_along = joined(to.half, met, to.row);
    require(first_along || then_along, "a Slim Fly of q = {} with a diameter above 2", field_.size());
    if (first_along && (!then_along || draws.below(2) == 0)) {
      along(from, start, path);
      across({from.half, from.column, start}, to.column, path);
    } else {
      across(from, to.column, path);
      along({to.half, to.column, met}, to.row, path);
    }
  }

  GaloisField field_;
  std::array<std::vector<std::uint32_t>, 2> sets_;     // X and X'
  std::array<std::vector<std::uint32_t>, 2> port_of_;  // by difference of rows; q: not joined
};

}  // namespace

struct SlimFlyFabric : FabricKind {
  Switching switching;
  std::uint32_t q = 0;
  std::optional<std::uint32_t> hosts_per_router;  ///< absent: balanced

  static Topology words() {
    return {.name = "slim_fly",
            .title = "Slim Fly",
            .summary = "Routers at most two hops apart, joined by algebra",
            .explanation =
                "Routers at most two hops apart, nearly as many as a network of that diameter can have at all: "
                "graphs of McKay, Miller and Siran over a finite field.",
            .symbols = "q a prime power, q = 4w + d with d in {-1, 0, 1}; p hosts per router; k = (3q - d) / 2",
            .endpoints = "2 q^2 p; balanced: p = ceil(k/2)",
            .switches = "2 q^2, of radix k + p",
            .cables = "q^2 k",
            .diameter = "4",
            .bisection = "at most q (q^2 + q mod 2) / 2, between halves of the columns",
            .source =
                "Besta, Hoefler, \"Slim Fly: a cost effective low-diameter network topology\", SC'14; Hafner, "
                "\"Geometric realisation of the graphs of McKay-Miller-Siran\", J. Combin. Theory B, 2004",
            .routings = {Routing::minimal, Routing::valiant, Routing::ugal}};
  }

  void visit(Fields& fields) override {
    athanor::visit(fields, switching);
    read_radix(fields, switching);
    fields.required("q", q, "A prime power: 2 q^2 routers");
    fields.optional("hosts_per_router", hosts_per_router,
                    "Hosts or NICs on one router; default: half of its cables to others", kPortRange);
  }

  const Switching& switches() const override { return switching; }
  std::uint32_t hosts() const { return hosts_per_router.value_or(balanced_hosts_per_router(q)); }

  Wide capacity(NicsPerNode nics) const override {
    check_slim_fly(q);
    return members_on(Wide{2} * q * q * hosts(), nics);
  }

  std::shared_ptr<NetworkTopology> build(const FabricSite& site) const override {
    check_slim_fly(q);
    return std::make_shared<DirectNetwork>(site.population, std::make_shared<SlimFly>(q),
                                           DirectSpec{hosts(), site.radix, site.host_cable, site.cable, site.cable});
  }
};

template Topology topology_of<SlimFlyFabric>();

}  // namespace athanor
