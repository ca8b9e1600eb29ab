#include <map>

#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tests/topologies/route_laws.hpp"
#include "tests/topologies/scenario_rig.hpp"
#include "topologies/cluster.hpp"
#include "topologies/formats/description.hpp"

using namespace athanor;
using namespace athanor::test;

namespace {

Cluster tree(std::uint32_t arity, std::uint32_t levels, std::uint32_t members, const RoutingRequest& routing = {}) {
  return on(hosts(members),
            R"("kind": "k_ary_n_tree", "arity": )" + std::to_string(arity) + R"(, "levels": )" + std::to_string(levels),
            routing);
}

std::uint32_t power(std::uint32_t k, std::uint32_t n) { return n == 0 ? 1 : k * power(k, n - 1); }

/// A k-ary n-tree and its numbers.
struct Size {
  std::uint32_t k, n;
};
constexpr Size kSizes[] = {{2, 1}, {2, 2}, {2, 3}, {2, 6}, {3, 1}, {3, 2}, {3, 3}, {4, 2}, {4, 3}, {5, 2}, {16, 1}};

}  // namespace

TEST_CASE("a k-ary n-tree has n k^(n-1) switches, n k^n cables, a diameter of 2n and half of its hosts as bisection") {
  for (const auto& [k, n] : kSizes) {
    CAPTURE(k);
    CAPTURE(n);
    const Cluster cluster = tree(k, n, power(k, n));
    const Fabric& fabric = *cluster.fabric;
    CHECK(fabric.vertices() == power(k, n) + n * power(k, n - 1));
    CHECK(fabric.links() == 2 * n * power(k, n));
    for (std::uint32_t v = power(k, n); v < fabric.vertices(); ++v) {
      const bool top = v >= fabric.vertices() - power(k, n - 1);
      CHECK(fabric.out(VertexId{v}).count == (top ? k : 2 * k));
    }
    const ClusterDescription found = describe(cluster);
    CHECK(found.diameter.links == 2 * n);
    REQUIRE(found.bisection);
    CHECK(found.bisection->bandwidth == cable().rate * (k / 2 * power(k, n - 1)));
    CHECK(found.bisection->endpoints == k / 2 * power(k, n - 1));
    CHECK(found.warnings.empty());
    CHECK(found.tiers.size() == n);
  }
}

TEST_CASE("routes of a k-ary n-tree are minimal, by d-mod-k and by ecmp") {
  for (const auto& [k, n] : kSizes) {
    for (const Routing routing : {Routing::d_mod_k, Routing::ecmp}) {
      CAPTURE(k);
      CAPTURE(n);
      CHECK(broken_routes(tree(k, n, power(k, n), {routing, 7})) == "");
    }
  }
}

TEST_CASE("with d-mod-k no link carries two flows of a shift, whatever its distance") {
  for (const auto& [k, n] : kSizes) {
    const std::uint32_t hosts = power(k, n);
    const Cluster cluster = tree(k, n, hosts);
    for (std::uint32_t shift = 1; shift < hosts; ++shift) {
      std::map<std::uint32_t, std::uint32_t> flows;
      std::uint32_t most = 0;
      for (std::uint32_t from = 0; from < hosts; ++from) {
        for (const LinkId link : route(cluster, VertexId{from}, VertexId{(from + shift) % hosts})) {
          most = std::max(most, ++flows[link.value]);
        }
      }
      CAPTURE(k);
      CAPTURE(n);
      CAPTURE(shift);
      CHECK(most == 1);
    }
  }
}

TEST_CASE("ecmp uses every switch at the top") {
  const Cluster cluster = tree(3, 3, 27, {Routing::ecmp, 1});
  std::map<std::uint32_t, int> tops;
  for (std::uint64_t flow = 0; flow < 900; ++flow) {
    const auto path = route(cluster, VertexId{0}, VertexId{26}, flow);
    REQUIRE(path.size() == 6);
    ++tops[cluster.fabric->target(path[2]).value];
  }
  CHECK(tops.size() == 9);
  for (const auto& [top, flows] : tops) { CHECK(flows > 60); }
}

TEST_CASE("a k-ary n-tree may be partly filled, which is told, and has no more places than it has") {
  for (const std::uint32_t members : {1U, 2U, 3U, 5U, 9U, 17U, 26U}) {
    CAPTURE(members);
    const Cluster cluster = tree(3, 3, members);
    CHECK(cluster.endpoints.size() == members);
    CHECK(cluster.warnings.size() == 1);
    CHECK(broken_routes(cluster) == "");
    for (const Cut& half : half_cuts(cluster)) {
      CHECK(half.inside > 0);
      CHECK(half.inside < members);
    }
  }
  CHECK_THROWS_AS(tree(3, 3, 28), ScenarioError);
}

TEST_CASE("nodes hang on a k-ary n-tree by their NICs") {
  const Cluster cluster = good(R"({"cluster": {"node": "DGX-H100", "fabric": {"kind": "k_ary_n_tree", "arity": 4,
    "levels": 3, "switch": "QM9700"}}})");
  CHECK(cluster.endpoints.size() == 64);
  CHECK(broken_routes(cluster, 16) == "");
}

TEST_CASE("sizes that no k-ary n-tree has are refused with what would fit") {
  const std::string link = R"("link": {"rate": "1GB/s", "latency": "1us"}}}})";
  CHECK(good(R"({"cluster": {"fabric": {"kind": "k_ary_n_tree", "arity": 3, "levels": 2, )" + link).endpoints.size() ==
        9);
  CHECK(has(bad(R"({"cluster": {"nodes": 10, "fabric": {"kind": "k_ary_n_tree", "arity": 3, "levels": 2, )" + link),
            "does-not-fit@1: 10 hosts or NICs do not fit a 3-ary 2-tree, which takes 9"));
  CHECK(has(bad(R"({"cluster": {"fabric": {"kind": "k_ary_n_tree", "arity": 40, "levels": 2, "switch": "QM9700"}}})"),
            "a switch of a 40-ary 2-tree needs 80 ports, but the switches have 64"));
  CHECK(has(bad(R"({"cluster": {"fabric": {"kind": "k_ary_n_tree", "arity": 64, "levels": 9, )" + link),
            "more than two thousand million hosts"));
}
