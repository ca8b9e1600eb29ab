#include <set>

#include <doctest/doctest.h>

#include "tests/topologies/direct/direct_laws.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::test;

namespace {

/// Switches along each dimension, and cables between two of them (none said: one).
struct Shape {
  std::vector<std::uint32_t> dimensions;
  std::vector<std::uint32_t> cables;
};

const std::vector<Shape> kShapes = {{{2}, {}},        {{5}, {}},    {{8}, {3}},         {{3, 4}, {}},
                                    {{4, 4}, {1, 2}}, {{1, 6}, {}}, {{2, 2, 2, 2}, {}}, {{3, 3, 2}, {2, 1, 3}},
                                    {{2, 2, 2}, {}}};

std::uint32_t cables(const Shape& shape, std::size_t d) { return shape.cables.empty() ? 1 : shape.cables[d]; }

std::uint32_t product(const Shape& shape) {
  std::uint32_t n = 1;
  for (const std::uint32_t size : shape.dimensions) { n *= size; }
  return n;
}

std::string keys(const Shape& shape, std::uint32_t hosts_each) {
  std::string text = R"("kind": "hyperx", "dimensions": )" + list(shape.dimensions);
  if (!shape.cables.empty()) { text += R"(, "cables": )" + list(shape.cables); }
  return text + R"(, "hosts_per_switch": )" + std::to_string(hosts_each);
}

}  // namespace

TEST_CASE("a HyperX has the switches, cables, ports, diameter and halves of its closed forms") {
  for (const Shape& shape : kShapes) {
    const std::uint32_t n = product(shape);
    const Cluster cluster = on(hosts(2 * n), keys(shape, 2));
    CAPTURE(cluster.description);
    std::uint32_t ports = 0;
    std::size_t dimensions = 0;
    std::uint32_t narrowest = ~0U;
    for (std::size_t d = 0; d < shape.dimensions.size(); ++d) {
      const std::uint32_t size = shape.dimensions[d];
      ports += cables(shape, d) * (size - 1);
      dimensions += size > 1 ? 1 : 0;
      if (size > 1) { narrowest = std::min(narrowest, cables(shape, d) * (n / size) * (size / 2) * (size - size / 2)); }
    }
    CHECK(count(*cluster.fabric, VertexKind::router) == n);
    CHECK(inner_cables(cluster, false) == n * ports / 2);
    CHECK(cluster.fabric->out(VertexId{2 * n}).count == ports + 2);
    CHECK(longest_route(cluster) == dimensions + 2);
    CHECK(bisection(cluster) == narrowest);
    CHECK(broken_cables(neighbours_of(cluster)) == "");
    CHECK(broken_routes(cluster) == "");
    CHECK(cluster.alike_from_every_node);
  }
}

TEST_CASE("the halves along dimensions are the bisection of a HyperX of even sides") {
  for (const Shape& shape : std::vector<Shape>{
           {{2}, {}}, {{8}, {3}}, {{4, 4}, {1, 2}}, {{2, 2, 2, 2}, {}}, {{2, 4}, {}}, {{2, 6}, {3, 1}}}) {
    const std::uint32_t n = product(shape);
    const Cluster cluster = on(hosts(n), keys(shape, 1));
    CHECK(bisection(cluster) == bisection_by_search(neighbours_of(cluster)));
  }
}

TEST_CASE("dimension order takes one hop in each dimension, and flows spread over parallel cables") {
  const Cluster cluster = on(hosts(16), keys({{4, 4}, {1, 3}}, 1));
  std::set<LinkId> used;
  for (std::uint64_t flow = 0; flow < 64; ++flow) {
    const auto path = route(cluster, VertexId{0}, VertexId{15}, flow);
    REQUIRE(path.size() == 4);
    CHECK(cluster.fabric->target(path[1]).value == 16 + 12);
    CHECK(path == route(cluster, VertexId{0}, VertexId{15}, flow));
    used.insert(path[2]);
  }
  CHECK(used.size() == 3);
}

TEST_CASE("valiant paths of a HyperX come nowhere twice, take 2 L hops at most, and go by way of every switch") {
  for (const Shape& shape : kShapes) {
    const std::uint32_t n = product(shape);
    const Cluster cluster = on(hosts(n), keys(shape, 1), {Routing::valiant, 3});
    CAPTURE(cluster.description);
    CHECK(broken_paths(cluster, 20) == "");
    CHECK(longest_route(cluster, 20) <= 2 * shape.dimensions.size() + 2);
  }
  const Cluster cluster = on(hosts(16), keys({{4, 4}, {}}, 1), {Routing::valiant, 3});
  std::set<VertexId> met;
  for (std::uint64_t flow = 0; flow < 400; ++flow) {
    for (const LinkId link : route(cluster, VertexId{0}, VertexId{5}, flow)) {
      met.insert(cluster.fabric->target(link));
    }
  }
  CHECK(met.size() == 16 + 1);
}

TEST_CASE("a full mesh joins every two: hosts themselves, nodes by a router of their own, or switches") {
  for (const std::uint32_t n : {1U, 2U, 3U, 8U, 9U}) {
    CAPTURE(n);
    const Cluster cluster = on(hosts(n), R"("kind": "full_mesh", "cables": 2)");
    CHECK(cluster.fabric->vertices() == n);
    CHECK(cluster.fabric->links() == 2 * n * (n - 1));
    CHECK(longest_route(cluster) == (n > 1 ? 1 : 0));
    if (n > 1) { CHECK(bisection(cluster) == 2 * (n / 2) * (n - n / 2)); }
    const Cluster of_nodes = on(nodes(n, nvswitch_node(4, 2)), R"("kind": "full_mesh")");
    CHECK(count(*of_nodes.fabric, VertexKind::router) == n);
    CHECK(broken_routes(of_nodes) == "");
  }
  const Cluster cluster =
      on(nodes(8, nvswitch_node(2, 2)), R"("kind": "full_mesh", "switches": 4, "hosts_per_switch": 4)");
  CHECK(count(*cluster.fabric, VertexKind::router) == 4);
  CHECK(broken_routes(cluster) == "");
  CHECK(bisection(cluster) == 4);
}

TEST_CASE("what does not fit a HyperX is refused with what would fit") {
  const auto bad = [](std::uint32_t members, const Shape& shape, std::uint32_t hosts_each,
                      const std::string& more = "") { return refused(hosts(members), keys(shape, hosts_each) + more); };
  CHECK(bad(33, {{4, 4}, {}}, 2)
            .find("33 hosts or NICs do not fit a HyperX of 4 x 4 switches that takes 32; "
                  "use at most 32 hosts") != std::string::npos);
  CHECK(bad(16, {{4, 4}, {}}, 4, R"(, "radix": 8)")
            .find("needs 10 ports, 6 of them to other switches, and its radix is 8; put at most "
                  "2 hosts on a switch") != std::string::npos);
  CHECK(bad(16, {{4, 4}, {}}, 4, R"(, "radix": 5)").find("take fewer switches along a dimension") != std::string::npos);
  CHECK(bad(16, {{4, 4}, {1, 2, 3}}, 1).find("2 dimensions, but 3 numbers of cables") != std::string::npos);
  CHECK(bad(16, {{2000, 2000}, {4000, 4000}}, 1).find("every switch needs 15992000 ports") != std::string::npos);
}

TEST_CASE("a network that is partly used says so, and which nodes straddle switches") {
  const Cluster cluster = on(nodes(3, nvswitch_node(3, 3)), keys({{2, 3}, {}}, 2));
  REQUIRE(cluster.warnings.size() == 2);
  CHECK(cluster.warnings[0].find("9 of 12 links to hosts or NICs are in use") != std::string::npos);
  CHECK(cluster.warnings[1].find("some nodes straddle") != std::string::npos);
  CHECK(broken_routes(cluster) == "");
  CHECK_FALSE(cluster.alike_from_every_node);
}
