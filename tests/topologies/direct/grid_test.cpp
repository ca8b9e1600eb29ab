#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tests/topologies/direct/direct_laws.hpp"
#include "topologies/cluster.hpp"
#include "topologies/kinds/grids.hpp"

using namespace athanor;
using namespace athanor::test;

namespace {

using Sizes = std::vector<std::uint32_t>;
using Twists = std::vector<Sizes>;

std::uint32_t positions(const Sizes& sizes) {
  std::uint32_t n = 1;
  for (const std::uint32_t size : sizes) { n *= size; }
  return n;
}

Cluster mesh_of(const Sizes& sizes, const std::vector<bool>& wraps = {}) {
  std::string wrap;
  for (const bool each : wraps) { wrap += (wrap.empty() ? "" : ", ") + std::string(each ? "true" : "false"); }
  const std::string keys = R"("kind": "mesh", "dimensions": )" + list(sizes);
  return on(hosts(positions(sizes)), wraps.empty() ? keys : keys + R"(, "wrap": [)" + wrap + "]");
}

Cluster twisted(const Sizes& sizes, const Twists& twists) {
  std::string rows;
  for (const Sizes& row : twists) { rows += (rows.empty() ? "" : ", ") + list(row); }
  const std::string keys = R"("kind": "torus", "dimensions": )" + list(sizes);
  return on(hosts(positions(sizes)), twists.empty() ? keys : keys + R"(, "twists": [)" + rows + "]");
}

struct Twisted {
  Sizes sizes;
  Twists twists;
};

/// Lengths of one and two, shifts in several dimensions, shifts that shift further, and shifts that do nothing.
const std::vector<Twisted> kTwisted = {{{4, 8}, {{0, 4}, {0, 0}}},
                                       {{4, 4}, {{0, 1}, {0, 0}}},
                                       {{5, 3}, {{0, 0}, {2, 0}}},
                                       {{1, 7}, {{0, 3}, {0, 0}}},
                                       {{1, 6}, {{0, 6}, {0, 0}}},
                                       {{2, 9}, {{0, 4}, {0, 0}}},
                                       {{2, 40}, {{0, 8}, {0, 0}}},
                                       {{3, 4, 7}, {{0, 1, 2}, {0, 0, 3}, {0, 0, 0}}},
                                       {{4, 4, 8}, tpu_v4_twists({4, 4, 8})},
                                       {{3, 3, 6}, tpu_v4_twists({3, 3, 6})},
                                       {{2, 4, 4}, tpu_v4_twists({2, 4, 4})},
                                       {{4, 8, 8}, tpu_v4_twists({4, 8, 8})}};

/// How many positions are so many steps away, by distance.
std::vector<std::uint32_t> distances_from(const Cluster& cluster, std::uint32_t position) {
  std::vector<std::uint32_t> counts(64, 0);
  for (const VertexId to : cluster.endpoints) { ++counts.at(route(cluster, VertexId{position}, to).size()); }
  return counts;
}

}  // namespace

TEST_CASE("a mesh has (k - 1) / k of a cable per position and dimension, and the longest way joins two corners") {
  for (const Sizes& sizes : std::vector<Sizes>{{1}, {2}, {5}, {3, 4}, {1, 4}, {2, 3, 5}, {4, 4, 4}, {3, 2, 2, 3}}) {
    const Cluster cluster = mesh_of(sizes);
    const std::uint32_t n = positions(sizes);
    CAPTURE(cluster.description);
    std::uint32_t cables = 0;
    std::uint32_t diameter = 0;
    for (const std::uint32_t size : sizes) {
      cables += n / size * (size - 1);
      diameter += size - 1;
    }
    CHECK(inner_cables(cluster, true) == cables);
    CHECK(longest_route(cluster) == diameter);
    CHECK(broken_routes(cluster) == "");
    CHECK_FALSE(cluster.alike_from_every_node);
  }
}

TEST_CASE("dimensions of a mesh that wrap are those of a torus") {
  const Cluster cluster = mesh_of({5, 4}, {true, false});
  CHECK(inner_cables(cluster, true) == 20 + 15);
  CHECK(longest_route(cluster) == 2 + 3);
  CHECK(broken_routes(cluster) == "");
  CHECK(mesh_of({4, 6}, {true, true}).fabric->links() == torus(hosts(24), {4, 6}).fabric->links());
}

TEST_CASE("the half along the longest dimension is the bisection of a mesh or torus of even length") {
  for (const Sizes& sizes : std::vector<Sizes>{{2}, {8}, {4, 4}, {3, 4}, {2, 6}, {2, 2, 4}}) {
    const std::uint32_t n = positions(sizes);
    const std::uint32_t longest = *std::max_element(sizes.begin(), sizes.end());
    CAPTURE(n);
    CHECK(bisection(mesh_of(sizes)) == n / longest);
    CHECK(bisection_by_search(neighbours_of(mesh_of(sizes))) == n / longest);
    const std::uint32_t round = (longest > 2 ? 2 : 1) * n / longest;
    CHECK(bisection(twisted(sizes, {})) == round);
    CHECK(bisection_by_search(neighbours_of(twisted(sizes, {}))) == round);
  }
}

TEST_CASE("on twisted tori every route is a shortest one, and all positions see the same") {
  for (const Twisted& each : kTwisted) {
    const Cluster cluster = twisted(each.sizes, each.twists);
    CAPTURE(cluster.description);
    CHECK(broken_cables(neighbours_of(cluster)) == "");
    CHECK(broken_routes(cluster, 64) == "");
    CHECK(cluster.alike_from_every_node);
    const auto first = distances_from(cluster, 0);
    for (std::uint32_t p = 1; p < cluster.endpoints.size(); p += 5) { CHECK(distances_from(cluster, p) == first); }
  }
}

TEST_CASE("who passes the end of a twisted dimension is shifted") {
  const Neighbours grid = neighbours_of(twisted({4, 8}, {{0, 4}, {0, 0}}));
  CHECK(grid[3 * 8 + 1][0] == 5);          // + from (3, 1): (0, 5)
  CHECK(grid[0 * 8 + 5][1] == 3 * 8 + 1);  // and back
  CHECK(grid[1 * 8 + 7][2] == 1 * 8);      // the other dimension closes as ever
}

TEST_CASE("a k x k x 2k torus twisted as TPU v4 has a shorter longest way and twice the narrowest half") {
  for (const std::uint32_t k : {3U, 4U, 6U}) {
    CAPTURE(k);
    const Sizes sizes = {k, k, 2 * k};
    const Cluster plain = twisted(sizes, {});
    const Cluster lattice = twisted(sizes, tpu_v4_twists(sizes));
    CHECK(longest_route(plain) == 2 * (k / 2) + k);
    CHECK(longest_route(lattice) == 3 * k / 2);
    CHECK(lattice.fabric->links() == plain.fabric->links());
    CHECK(lattice.torus == plain.torus);
    if (k % 2 == 0) {
      CHECK(bisection(plain) == 2 * k * k);
      CHECK(bisection(lattice) == 4 * k * k);
    }
  }
}

TEST_CASE("a k x 2k x 2k torus twisted as TPU v4 has ways of 3k / 2 links at most, and twice the narrowest half") {
  for (const std::uint32_t k : {2U, 3U, 4U}) {
    CAPTURE(k);
    const Sizes sizes = {k, 2 * k, 2 * k};
    const Cluster plain = twisted(sizes, {});
    const Cluster lattice = twisted(sizes, tpu_v4_twists(sizes));
    CHECK(longest_route(plain) == k / 2 + 2 * k);
    CHECK(longest_route(lattice) == 3 * k / 2);
    if (k > 2) { CHECK(lattice.fabric->links() == plain.fabric->links()); }  // two positions are joined once
    CHECK(bisection(plain) == 4 * k * k);
    CHECK(bisection(lattice) == 8 * k * k);
  }
}

TEST_CASE("k x k x 2k and k x 2k x 2k, twisted, are as long along every dimension") {
  for (const Sizes& sizes : {Sizes{2, 2, 4}, Sizes{4, 4, 8}, Sizes{2, 4, 4}, Sizes{4, 8, 8}}) {
    const Cluster cluster = twisted(sizes, tpu_v4_twists(sizes));
    std::vector<std::vector<std::size_t>> along(3);
    std::uint32_t stride = positions(sizes);
    for (std::size_t d = 0; d < 3; ++d) {
      stride /= sizes[d];
      for (std::uint32_t steps = 1; steps < sizes[0]; ++steps) {
        along[d].push_back(route(cluster, VertexId{0}, VertexId{steps * stride}).size());
      }
    }
    CHECK(along[0] == along[1]);
    CHECK(along[1] == along[2]);
  }
}

TEST_CASE("shapes that are no grid are refused with what is wrong") {
  const auto bad = [](const LatticeShape& shape) -> std::string {
    try {
      check_grid("a torus", shape);
    } catch (const ScenarioError& error) { return describe(error.problems()[0]); }
    return "";
  };
  CHECK(bad({{4, 4}, {}, {}}) == "");
  CHECK(bad({{4, 0}, {}, {}}).find("a torus of 4 x 0 has no position") != std::string::npos);
  CHECK(bad({{}, {}, {}}).find("no position") != std::string::npos);
  CHECK(bad({Sizes(33, 1), {}, {}}).find("33 dimensions") != std::string::npos);
  CHECK(bad({{4, 4}, {true}, {}}).find("for 1 it is said") != std::string::npos);
  CHECK(bad({{4, 4}, {}, {{0, 1}}}).find("a row for each") != std::string::npos);
  CHECK(bad({{4, 4}, {}, {{0, 1}, {1, 0}}}).find("in a circle") != std::string::npos);
  CHECK(bad({{4, 4}, {}, {{1, 0}, {0, 0}}}).find("in a circle") != std::string::npos);
  CHECK(bad({{4, 4}, {false, true}, {{0, 1}, {0, 0}}}).find("must close on themselves") != std::string::npos);
}
