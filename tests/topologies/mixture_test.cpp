#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tests/topologies/route_laws.hpp"
#include "tests/topologies/scenario_rig.hpp"
#include "topologies/cluster.hpp"
#include "topologies/formats/description.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

NodeKind kind(std::uint32_t members, const NodeSpec& spec) {
  NodeKind made;
  made.members = members;
  made.node = std::make_shared<const NodeTemplate>(spec);
  return made;
}

/// Three nodes of four GPUs and NICs, two of eight GPUs and four NICs, one of two GPUs and a NIC.
Population three_kinds() {
  return mixture({kind(3, nvswitch_node(4, 4)), kind(2, cube_mesh_node()), kind(1, nvswitch_node(2, 1))});
}

std::string mixed(const std::string& fabric, const std::string& more = "") {
  return R"({"cluster": {"nodes": [{"node": "DGX-H100", "count": 4}, {"node": "DGX-A100", "count": 2}],
    "fabric": )" +
         fabric + "}" + more + "}";
}

}  // namespace

TEST_CASE("a mixture numbers members, vertices, attachments and endpoints kind after kind") {
  const Population population = three_kinds();
  CHECK(population.members == 6);
  CHECK(population.endpoints() == 3 * 4 + 2 * 8 + 2);
  CHECK(population.attachments() == 3 * 4 + 2 * 4 + 1);
  FabricBuilder builder;
  add_vertices(population, builder);
  add_links(population, builder);
  const Fabric fabric = builder.build();
  REQUIRE(fabric.vertices() == population.vertices());
  std::uint32_t endpoints = 0;
  std::uint32_t attachments = 0;
  for (std::uint32_t v = 0; v < fabric.vertices(); ++v) {
    const Vertex& device = fabric.vertex(VertexId{v});
    const Population::Home home = population.home(VertexId{v});
    CHECK(fabric.vertex(VertexId{home.first_vertex}).node == device.node);
    CHECK(home.kind == (device.node < 3 ? 0 : device.node < 5 ? 1 : 2));
    if (device.kind == VertexKind::gpu) { CHECK(population.endpoint(endpoints++) == VertexId{v}); }
    if (device.kind != VertexKind::nic) { continue; }
    CHECK(population.attachment(attachments) == VertexId{v});
    CHECK(population.network_port(attachments) == fabric.out(VertexId{v}).count);
    CHECK(home.first_attachment + device.index == attachments);
    ++attachments;
  }
  CHECK(endpoints == population.endpoints());
  CHECK(attachments == population.attachments());
}

TEST_CASE("members below a number of attachments are those that have all there, or some") {
  const Population population = three_kinds();
  for (std::uint32_t slots = 0; slots <= population.attachments(); ++slots) {
    std::uint32_t within = 0;
    std::uint32_t begun = 0;
    for (std::uint32_t m = 0; m < population.members; ++m) {
      const VertexRange range = population.range(m, m + 1);
      const std::uint32_t first = population.home(VertexId{range.first}).first_attachment;
      const std::uint32_t nics = population.home(VertexId{range.first}).node->nics();
      within += first + nics <= slots ? 1 : 0;
      begun += first < slots ? 1 : 0;
    }
    CAPTURE(slots);
    CHECK(population.members_within(slots) == within);
    CHECK(population.members_begun(slots) == begun);
  }
}

TEST_CASE("nodes of several kinds reach each other on every kind of tree") {
  ClosSpec spec = clos_of_radix(8);
  CHECK(broken_routes(fat_tree(three_kinds(), spec)) == "");
  CHECK(broken_routes(fat_tree(three_kinds(), spec, {Routing::ecmp, 3})) == "");
  CHECK(broken_routes(star(three_kinds(), cable())) == "");
  CHECK(broken_routes(on(three_kinds(), R"("kind": "k_ary_n_tree", "arity": 4, "levels": 3)")) == "");
  CHECK(broken_routes(dual_plane(three_kinds(), spec, 2, false)) == "");
  for (const std::string fabric :
       {R"({"kind": "fat_tree", "switch": "QM9700"})", R"({"kind": "rail_optimized", "switch": "QM9700"})",
        R"({"kind": "dual_plane", "switch": "QM9700"})"}) {
    CAPTURE(fabric);
    const Cluster cluster = good(mixed(fabric));
    CHECK(cluster.endpoints.size() == 48);
    CHECK(broken_routes(cluster, 12) == "");
  }
}

TEST_CASE("nodes of several kinds hang on the switches of direct networks, where nodes are no positions") {
  for (const std::string fabric :
       {R"({"kind": "dragonfly", "groups": 3, "routers_per_group": 4, "hosts_per_router": 8, "global_cables": 2,
            "link": {"rate": "400Gb/s", "latency": "1us"}})",
        R"({"kind": "hyperx", "dimensions": [3, 2], "link": {"rate": "400Gb/s", "latency": "1us"}})"}) {
    CAPTURE(fabric);
    const Cluster cluster = good(mixed(fabric));
    CHECK(cluster.endpoints.size() == 48);
    for (std::uint32_t from = 0; from < 48; from += 7) {
      for (std::uint32_t to = 0; to < 48; ++to) {
        const auto path = route(cluster, cluster.endpoints[from], cluster.endpoints[to]);
        CHECK(broken(*cluster.fabric, cluster.endpoints[from], cluster.endpoints[to], path) == "");
      }
    }
  }
}

TEST_CASE("every kind keeps the rate of its NICs and the inside of its nodes") {
  const Cluster cluster = good(mixed(R"({"kind": "star", "switch": "QM9700"})"));
  const auto network = [&](std::uint32_t from, std::uint32_t to) {
    std::vector<Bandwidth> rates;
    for (const LinkId link : route(cluster, cluster.endpoints[from], cluster.endpoints[to])) {
      if (cluster.fabric->link(link).kind == LinkKind::network) { rates.push_back(cluster.fabric->link(link).rate); }
    }
    return rates;
  };
  CHECK(network(0, 8) == std::vector<Bandwidth>{400_Gbps, 400_Gbps});
  CHECK(network(0, 40) == std::vector<Bandwidth>{400_Gbps, 200_Gbps});
  CHECK(network(32, 40) == std::vector<Bandwidth>{200_Gbps, 200_Gbps});
  CHECK(cluster.fabric->link(route(cluster, cluster.endpoints[0], cluster.endpoints[1])[0]).rate == 450_GBps);
  CHECK(cluster.fabric->link(route(cluster, cluster.endpoints[32], cluster.endpoints[33])[0]).rate == 300_GBps);
}

TEST_CASE("a description names the kinds, and looks at all of them") {
  const Cluster cluster = good(mixed(R"({"kind": "star", "switch": "QM9700"})"));
  CHECK(cluster.endpoints_per_node == 8);
  CHECK_FALSE(cluster.alike_from_every_node);
  const ClusterDescription found = describe(cluster);
  CHECK(has(found.summary, "4 x DGX-H100 and 2 x DGX-A100 on a star"));
  std::vector<std::string> names;
  for (const Cut& cut : natural_cuts(cluster)) { names.push_back(cut.name); }
  CHECK(std::count(names.begin(), names.end(), "node 0") == 1);
  CHECK(std::count(names.begin(), names.end(), "node 4") == 1);
  const Cluster two = star(mixture({kind(1, nvswitch_node(8, 8)), kind(2, cube_mesh_node())}), cable());
  CHECK(has(to_text(describe(two)), "24 (8 per node, NICs differ)"));
  const Cluster three = star(three_kinds(), cable());
  CHECK(three.description == "3 x test node, 2 x test node and 1 x test node on a star");
  CHECK(three.endpoints_per_node == 0);
  CHECK(has(to_text(describe(three)), "(nodes differ)"));
}

TEST_CASE("a list of one kind is the same as the kind itself") {
  const Cluster list = good(R"({"cluster": {"nodes": [{"node": "DGX-H100", "count": 3}],
    "fabric": {"kind": "star", "switch": "QM9700"}}})");
  CHECK(list.description == "3 x DGX-H100 on a star");
  CHECK(list.alike_from_every_node);
}

TEST_CASE("PXN finds the NIC of the rail in nodes of every kind") {
  const Cluster cluster = good(mixed(R"({"kind": "rail_only", "switch": "QM9700"})"));
  for (std::uint32_t from = 0; from < 48; from += 5) {
    for (std::uint32_t to = 0; to < 48; ++to) {
      const auto path = route(cluster, cluster.endpoints[from], cluster.endpoints[to]);
      CHECK(broken(*cluster.fabric, cluster.endpoints[from], cluster.endpoints[to], path) == "");
      for (const LinkId link : path) {
        const Vertex& device = cluster.fabric->vertex(cluster.fabric->target(link));
        if (device.kind == VertexKind::nic) { CHECK(device.index == to % 8); }
      }
    }
  }
}

TEST_CASE("mixtures that do not go together are refused") {
  CHECK(has(bad(R"({"cluster": {"nodes": [{"node": "DGX-H100"}, {"node": "DGX-1V"}],
    "fabric": {"kind": "rail_optimized", "switch": "QM9700"}}})"),
            "needs nodes with equally many NICs, and DGX-H100 has 8, DGX-1V 4"));
  CHECK(has(bad(R"({"cluster": {"nodes": [{"node": "DGX-H100"}, {"node": "DGX-A100"}],
    "fabric": {"kind": "torus", "dimensions": [2], "link": {"rate": "1GB/s", "latency": "1us"}}}})"),
            "nodes of one kind"));
  CHECK(has(bad(R"({"cluster": {"nodes": [{"node": "DGX-H100"}, {"node": "DGX-A100"}]}})"), "need a \"fabric\""));
  CHECK(has(bad(R"({"cluster": {"node": "DGX-H100", "nodes": [{"node": "DGX-A100"}],
    "fabric": {"kind": "star", "switch": "QM9700"}}})"),
            "each says its own \"node\""));
  CHECK(has(bad(R"({"cluster": {"nodes": [{"node": "DGX-H100"}, {"node": "DGX-A10"}],
    "fabric": {"kind": "star", "switch": "QM9700"}}})"),
            "there is no node preset \"DGX-A10\""));
}
