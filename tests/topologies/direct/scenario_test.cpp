#include <doctest/doctest.h>

#include "tests/topologies/direct/direct_laws.hpp"
#include "tests/topologies/scenario_rig.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::test;

namespace {

/// A cluster of this fabric; `fields` follow its kind.
std::string on(const std::string& fabric, const std::string& before = "") {
  return R"({"cluster": {)" + before + R"("fabric": {"link": {"rate": "50GB/s", "latency": "250ns"}, )" + fabric +
         "}}}";
}

}  // namespace

TEST_CASE("every direct network may be written with the figures of its paper, which imply the number of hosts") {
  const auto hosts_of = [](const std::string& fabric) { return good(on(fabric)).endpoints.size(); };
  CHECK(hosts_of(R"("kind": "mesh", "dimensions": [4, 3])") == 12);
  CHECK(hosts_of(R"("kind": "mesh", "dimensions": [4, 3], "wrap": [true, false])") == 12);
  CHECK(hosts_of(R"("kind": "torus", "dimensions": [4, 4, 8], "twists": "tpu_v4")") == 128);
  CHECK(hosts_of(R"("kind": "torus", "dimensions": [2, 8], "twists": [[0, 3], [0, 0]])") == 16);
  CHECK(hosts_of(R"("kind": "full_mesh", "switches": 4, "hosts_per_switch": 3, "cables": 2)") == 12);
  CHECK(hosts_of(R"("kind": "hyperx", "dimensions": [3, 4], "hosts_per_switch": 2, "cables": [1, 2])") == 24);
  CHECK(hosts_of(R"("kind": "dragonfly", "hosts_per_router": 2)") == 72);
  CHECK(hosts_of(R"("kind": "dragonfly", "hosts_per_router": 2, "groups": 4, "arrangement": "consecutive")") == 32);
  CHECK(hosts_of(R"("kind": "dragonfly_plus", "leaves_per_group": 2)") == 20);
  CHECK(hosts_of(R"("kind": "slim_fly", "q": 5)") == 200);
  CHECK(hosts_of(R"("kind": "slim_fly", "q": 4, "hosts_per_router": 1)") == 32);
}

TEST_CASE("where nodes are counted, groups and hosts per switch are as few as take them") {
  const Cluster fly = good(on(R"("kind": "dragonfly", "hosts_per_router": 2)", R"("nodes": 20, )"));
  CHECK(count(*fly.fabric, VertexKind::router) == 3 * 4);
  const Cluster plus = good(on(R"("kind": "dragonfly_plus", "leaves_per_group": 2)", R"("nodes": 9, )"));
  CHECK(count(*plus.fabric, VertexKind::leaf) == 3 * 2);
  const Cluster box = good(on(R"("kind": "hyperx", "dimensions": [2, 3])", R"("nodes": 13, )"));
  CHECK(box.warnings[0].find("13 of 18") != std::string::npos);
  const Cluster mesh = good(on(R"("kind": "full_mesh", "hosts_per_switch": 4)", R"("nodes": 10, )"));
  CHECK(count(*mesh.fabric, VertexKind::router) == 3);
  CHECK(good(on(R"("kind": "full_mesh")", R"("nodes": 10, )")).fabric->vertices() == 10);
}

TEST_CASE("128 DGX nodes stand on every direct network, with routes that are connected and come nowhere twice") {
  for (const std::string fabric :
       {R"("kind": "mesh", "dimensions": [8, 16])", R"("kind": "torus", "dimensions": [4, 4, 8], "twists": "tpu_v4")",
        R"("kind": "full_mesh", "hosts_per_switch": 64)", R"("kind": "hyperx", "dimensions": [4, 8])",
        R"("kind": "dragonfly", "hosts_per_router": 8)", R"("kind": "dragonfly_plus", "leaves_per_group": 8)",
        R"("kind": "slim_fly", "q": 11)"}) {
    CAPTURE(fabric);
    const Cluster cluster = good(on(fabric, R"("node": "DGX-H100", "nodes": 128, )"));
    CHECK(cluster.endpoints.size() == 1024);
    for (std::size_t to = 0; to < 1024; to += 37) {
      const VertexId from = cluster.endpoints[to * 7 % 1024];
      CHECK(broken(*cluster.fabric, from, cluster.endpoints[to], route(cluster, from, cluster.endpoints[to])) == "");
    }
  }
}

TEST_CASE("a switch preset gives a direct network its rate and the radix that its switches must have") {
  const std::string text =
      R"({"cluster": {"fabric": {"kind": "dragonfly", "switch": "QM8700", "hosts_per_router": 10}}})";
  CHECK(good(text).endpoints.size() == 20 * 10 * 201);
  const std::string large = R"({"cluster": {"nodes": 1000,
    "fabric": {"kind": "dragonfly", "switch": "QM8700", "hosts_per_router": 14}}})";
  CHECK(has(bad(large), "does-not-fit@2: a switch of a dragonfly of 3 groups of 28 routers needs 55 ports"));
}

TEST_CASE("global cables may be slower than the others") {
  const Cluster cluster =
      good(on(R"("kind": "dragonfly", "hosts_per_router": 2, "global_link": {"rate": "25GB/s", "latency": "1us"})"));
  CHECK(bisection(cluster) == 4 * 5 / 2);
}

TEST_CASE("sizes that do not fit a direct network are refused at the fabric, with what fits") {
  CHECK(has(bad(on(R"("kind": "slim_fly", "q": 6)")), "does-not-fit@1: a Slim Fly is made of a prime power"));
  CHECK(has(bad(on(R"("kind": "mesh", "dimensions": [2, 4])", R"("nodes": 9, )")),
            "a mesh of 2 x 4 has 8 positions, not 9"));
  CHECK(has(bad(on(R"("kind": "dragonfly", "hosts_per_router": 2, "groups": 10)")), "use at most 9 groups"));
  CHECK(has(bad(on(R"("kind": "hyperx", "dimensions": [2, 3], "hosts_per_switch": 2)", R"("nodes": 13, )")),
            "13 hosts or NICs do not fit a HyperX of 2 x 3 switches that takes 12"));
  CHECK(has(bad(on(R"("kind": "torus", "dimensions": [2, 3], "twists": "tpu_v5")")), "tpu_v4"));
  CHECK(has(bad(on(R"("kind": "torus", "dimensions": [2, 3], "twists": [[0, 1], [1, 0]])")), "in a circle"));
  CHECK(has(bad(on(R"("kind": "hyperx", "dimensions": [2, 3])")), "needs \"nodes\""));
  CHECK(has(bad(on(R"("kind": "full_mesh")")), "needs \"nodes\""));
  CHECK(has(bad(on(R"("kind": "hyperx", "dimensions": [100000, 100000])", R"("nodes": 13, )")), "too-large"));
}
