#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "topologies/generators/direct/galois_field.hpp"
#include "topologies/generators/direct/router_graph.hpp"

namespace athanor {

/// Throws ScenarioError("does-not-fit") unless q is a prime power from 3 to 256 and q mod 4 is 0, 1 or 3; names those
/// beside it that fit.
void check_slim_fly(std::uint32_t q);
/// The least number of endpoints per router at which a Slim Fly is balanced, ceil(k / 2) for k cables to other routers.
std::uint32_t balanced_hosts_per_router(std::uint32_t q);

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
class SlimFly : public RouterGraph {
 public:
  /// Requires a q that check_slim_fly accepts.
  explicit SlimFly(std::uint32_t q);

  std::uint32_t routers() const override { return 2 * field_.size() * field_.size(); }
  std::uint32_t ports(std::uint32_t /*router*/) const override { return in_column() + field_.size(); }
  std::uint32_t neighbour(std::uint32_t router, std::uint32_t port) const override;
  std::vector<Routing> routings() const override { return {Routing::minimal, Routing::valiant}; }
  void walk(Routing routing, FlowDraws draws, std::uint32_t from, std::uint32_t to, Trail& trail) const override;
  std::vector<RouterSet> sets() const override;
  bool alike() const override { return false; }

 private:
  struct Place {
    std::uint32_t half, column, row;
  };
  Place place(std::uint32_t router) const;
  std::uint32_t number(const Place& place) const;
  std::uint32_t in_column() const { return static_cast<std::uint32_t>(sets_[0].size()); }
  /// The row at which a router's cable to a column of the other half ends.
  std::uint32_t row_across(const Place& from, std::uint32_t column) const;
  bool joined(std::uint32_t half, std::uint32_t from_row, std::uint32_t to_row) const;
  void along(const Place& from, std::uint32_t row, Trail& trail) const;
  void across(const Place& from, std::uint32_t column, Trail& trail) const;
  void shortest(FlowDraws& draws, std::uint32_t from, std::uint32_t to, Trail& trail) const;
  void within_column(FlowDraws& draws, const Place& from, const Place& to, Trail& trail) const;
  void to_other_half(FlowDraws& draws, const Place& from, const Place& to, Trail& trail) const;

  GaloisField field_;
  std::array<std::vector<std::uint32_t>, 2> sets_;     // X and X'
  std::array<std::vector<std::uint32_t>, 2> port_of_;  // by difference of rows; q: not joined
};

}  // namespace athanor
