#include <bit>
#include <set>

#include <doctest/doctest.h>

#include "tests/topologies/direct/direct_laws.hpp"
#include "tests/topologies/scenario_rig.hpp"

using namespace athanor;
using namespace athanor::test;

namespace {

struct Shape {
  std::uint32_t a, b, x, y;
  std::uint32_t positions() const { return a * b * x * y; }
};

/// Square and long boards, of one position, of odd and even sides; one row, one column, one board.
const std::vector<Shape> kShapes = {{1, 1, 2, 2}, {2, 2, 2, 2}, {2, 2, 4, 3},  {3, 3, 2, 2},  {4, 4, 2, 3},
                                    {4, 2, 3, 2}, {1, 4, 3, 2}, {5, 3, 2, 2},  {2, 2, 1, 3},  {3, 2, 4, 1},
                                    {4, 4, 1, 1}, {9, 2, 2, 2}, {1, 16, 1, 2}, {12, 12, 2, 2}};

std::string keys(const Shape& shape) {
  return R"("kind": "hamming_mesh", "board": )" + list({shape.a, shape.b}) + R"(, "boards": )" +
         list({shape.x, shape.y});
}

Cluster made(const Shape& shape, const std::string& more = "", const RoutingRequest& routing = {}) {
  return on(hosts(shape.positions()), keys(shape) + more, routing);
}

std::uint32_t cables_on_boards(const Shape& s) { return s.x * s.y * (2 * s.a * s.b - s.a - s.b); }
std::uint32_t cables_to_lines(const Shape& s) { return 2 * s.x * s.y * (s.a + s.b); }

/// The fewest cables between two halves of the positions, of all such halves; a switch is on the side of which it has
/// more. Requires 16 positions at most.
std::uint32_t least_cut(const Cluster& cluster) {
  const auto n = static_cast<std::uint32_t>(cluster.endpoints.size());
  const Fabric& fabric = *cluster.fabric;
  std::uint32_t least = ~0U;
  for (std::uint32_t set = 1; set < 1U << n; set += 2) {
    if (static_cast<std::uint32_t>(std::popcount(set)) * 2 != n) { continue; }
    std::uint32_t cut = 0;
    std::vector<std::array<std::uint32_t, 2>> of_switch(fabric.vertices() - n);
    for (std::uint32_t l = 0; l < fabric.links(); ++l) {
      const std::uint32_t from = fabric.source(LinkId{l}).value;
      const std::uint32_t to = fabric.target(LinkId{l}).value;
      if (from >= n) { continue; }
      if (to >= n) { ++of_switch[to - n][set >> from & 1U]; }
      if (to < n && (set >> from & 1U) > (set >> to & 1U)) { ++cut; }
    }
    for (const auto& sides : of_switch) { cut += std::min(sides[0], sides[1]); }
    least = std::min(least, cut);
  }
  return least;
}

}  // namespace

TEST_CASE("a HammingMesh has four cables at every position, and the switches and cables of its closed forms") {
  for (const Shape& shape : kShapes) {
    const Cluster cluster = made(shape);
    CAPTURE(cluster.description);
    const Fabric& fabric = *cluster.fabric;
    CHECK(count(fabric, VertexKind::leaf) == shape.x + shape.y);
    CHECK(fabric.links() == 2 * (cables_on_boards(shape) + cables_to_lines(shape)));
    for (std::uint32_t v = 0; v < shape.positions(); ++v) { CHECK(fabric.out(VertexId{v}).count == 4); }
    for (std::uint32_t line = 0; line < shape.x + shape.y; ++line) {
      const std::uint32_t ports = line < shape.y ? 2 * shape.b * shape.x : 2 * shape.a * shape.y;
      CHECK(fabric.out(VertexId{shape.positions() + line}).count == ports);
    }
    for (std::uint32_t l = 0; l < fabric.links(); ++l) { CHECK(fabric.source(LinkId{l}) != fabric.target(LinkId{l})); }
  }
}

TEST_CASE("routes of a HammingMesh with a switch for each row and column are shortest paths, whatever is drawn") {
  for (const Shape& shape : kShapes) {
    const Cluster cluster = made(shape);
    CAPTURE(cluster.description);
    CHECK(broken_routes(cluster, 64) == "");
    CHECK(broken_paths(made(shape, "", {Routing::minimal, 7}), shape.positions() > 100 ? 1 : 6) == "");
  }
}

TEST_CASE("the longest route of a HammingMesh crosses half a board at both ends, and two switches") {
  for (const Shape& shape : kShapes) {
    if (shape.x == 1 || shape.y == 1 || std::max(shape.a, shape.b) - std::min(shape.a, shape.b) >= 5) { continue; }
    if (shape.positions() > 400) { continue; }
    CAPTURE(shape.a);
    CAPTURE(shape.b);
    CHECK(longest_route(made(shape)) == 4 + (shape.a - 1) / 2 + (shape.b - 1) / 2);
  }
}

TEST_CASE("half of the boards is the bisection of a HammingMesh, x y min(a, b), a share 1 / (2 a) of what all send") {
  for (const Shape& shape : std::vector<Shape>{
           {1, 1, 2, 2}, {2, 2, 2, 2}, {1, 2, 2, 2}, {2, 1, 2, 2}, {1, 1, 4, 4}, {1, 1, 2, 4}, {1, 2, 4, 2}}) {
    const Cluster cluster = made(shape);
    CAPTURE(cluster.description);
    CHECK(bisection(cluster) == shape.x * shape.y * std::min(shape.a, shape.b));
    CHECK(bisection(cluster) == least_cut(cluster));
  }
  for (const std::uint32_t side : {2U, 4U}) {  // Hx2Mesh and Hx4Mesh
    const Shape shape{side, side, 4, 4};
    CHECK(bisection(made(shape)) * 2 * side == 4 * shape.positions() / 2);
  }
}

TEST_CASE("a row or column whose cables are more than the ports of a switch is a fat tree of two tiers") {
  for (const std::uint32_t radix : {4U, 6U, 8U, 12U}) {
    const Shape shape{2, 2, 4, 2};  // 16 cables in a row, 8 in a column
    if (radix / 2 * radix < 16) { continue; }
    const Cluster cluster = made(shape, R"(, "radix": )" + std::to_string(radix));
    CAPTURE(radix);
    const Fabric& fabric = *cluster.fabric;
    std::uint32_t to_lines = 0;
    for (std::uint32_t v = 0; v < fabric.vertices(); ++v) {
      if (fabric.vertex(VertexId{v}).kind == VertexKind::host) { continue; }
      CHECK(fabric.out(VertexId{v}).count <= radix);
    }
    for (std::uint32_t v = 0; v < shape.positions(); ++v) {
      const Fabric::OutLinks out = fabric.out(VertexId{v});
      for (std::uint32_t l = out.first; l < out.first + out.count; ++l) {
        to_lines += fabric.vertex(fabric.target(LinkId{l})).kind == VertexKind::leaf ? 1 : 0;
      }
    }
    CHECK(to_lines == cables_to_lines(shape));
    CHECK(count(fabric, VertexKind::spine) > 0);
    CHECK(broken_paths(cluster, 4) == "");
    CHECK(longest_route(cluster, 4) <= 2 * 4);
    CHECK(bisection(cluster) == shape.x * shape.y * 2);
  }
}

TEST_CASE("valiant paths of a HammingMesh come nowhere twice, and those between boards use every switch of a row") {
  const Shape shape{2, 2, 3, 3};
  const Cluster cluster = made(shape, "", {Routing::valiant, 5});
  CHECK(broken_paths(cluster, 6) == "");
  std::set<VertexId> met;
  for (std::uint64_t flow = 0; flow < 400; ++flow) {
    for (const LinkId link : route(cluster, VertexId{0}, VertexId{35}, flow)) {
      met.insert(cluster.fabric->target(link));
    }
  }
  for (std::uint32_t line = 0; line < 6; ++line) { CHECK(met.count(VertexId{36 + line}) == 1); }
}

TEST_CASE("nodes and GPUs are positions of a HammingMesh, and it may stand beside another network") {
  const Cluster of_nodes = on(nodes(16, nvswitch_node(4, 2)), keys({2, 2, 2, 2}));
  CHECK(count(*of_nodes.fabric, VertexKind::router) == 16);
  CHECK(broken_routes(of_nodes, 16) == "");
  const std::string link = R"("link": {"rate": "50GB/s", "latency": "300ns"})";
  const Cluster gpus =
      good(R"({"cluster": {"fabric": {)" + keys({2, 2, 2, 2}) + R"(, "positions": "gpu", )" + link + "}}}");
  CHECK(count(*gpus.fabric, VertexKind::gpu) == 16);
  const Cluster two = good(R"({"cluster": {"nodes": 16, "fabrics": {"front": {"kind": "star", )" + link +
                           R"(}, "back": {)" + keys({2, 2, 2, 2}) + ", " + link + R"(}}}, "fabric": "back"})");
  CHECK(broken_paths(two, 2) == "");
}

TEST_CASE("cables on boards may be others than those to switches") {
  const Shape shape{2, 2, 2, 2};
  const Cluster cluster = made(shape, R"(, "board_link": {"rate": "100GB/s", "latency": "50ns"})");
  std::uint32_t fast = 0;
  for (std::uint32_t l = 0; l < cluster.fabric->links(); ++l) {
    fast += cluster.fabric->link(LinkId{l}).rate == cable(100).rate ? 1 : 0;
  }
  CHECK(fast == 2 * cables_on_boards(shape));
}

TEST_CASE("sizes that no HammingMesh has are refused with what would fit") {
  const auto bad = [](std::uint32_t members, const std::string& text) {
    return refused(hosts(members), R"("kind": "hamming_mesh", )" + text);
  };
  CHECK(bad(15, R"("board": [2, 2], "boards": [2, 2])").find("has 16 positions, not 15") != std::string::npos);
  CHECK(bad(16, R"("board": [2, 2], "boards": [2, 2], "radix": 3)")
            .find("a row of boards of a HammingMesh has 8 cables, and two tiers of switches of radix 3 take 3") !=
        std::string::npos);
  CHECK(bad(16, R"("board": [2, 2], "boards": [2, 2], "radix": 1)").find("take 0") != std::string::npos);
  CHECK(bad(16, R"("board": [2, 2, 4], "boards": [1, 1])").find("\"board\" of a HammingMesh has 3 numbers") !=
        std::string::npos);
  CHECK(bad(16, R"("board": [0, 2], "boards": [1, 1])").find("out-of-range") != std::string::npos);
  CHECK(bad(16, R"("board": [16777216, 16777216], "boards": [16777216, 16777216])").find("too-large") !=
        std::string::npos);
  CHECK(bad(16, R"("board": [65536, 1], "boards": [1024, 1])").find("has 67108864 positions") != std::string::npos);
}
