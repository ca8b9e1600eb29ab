#include <map>

#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tests/topologies/route_laws.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::test;

TEST_CASE("a star has one switch, a cable for each host, and routes of two links") {
  for (const std::uint32_t n : {1U, 2U, 3U, 7U, 64U}) {
    CAPTURE(n);
    const Cluster cluster = star(hosts(n), cable());
    CHECK(cluster.fabric->vertices() == n + 1);
    CHECK(cluster.fabric->links() == 2 * n);
    CHECK(broken_routes(cluster) == "");
    if (n > 1) { CHECK(route(cluster, cluster.endpoints[0], cluster.endpoints[1]).size() == 2); }
  }
}

TEST_CASE("a full two-tier tree of radix k has k leaves, k/2 spines and k*k/2 hosts") {
  for (const std::uint32_t k : {2U, 4U, 6U, 8U, 16U}) {
    CAPTURE(k);
    const Cluster cluster = fat_tree(hosts(k * k / 2), clos_of_radix(k));
    CHECK(count(*cluster.fabric, VertexKind::leaf) == k);
    CHECK(count(*cluster.fabric, VertexKind::spine) == k / 2);
    CHECK(count(*cluster.fabric, VertexKind::core) == 0);
    CHECK(cluster.fabric->links() == 2 * (k * k / 2 + k * k / 2));
    CHECK(broken_routes(cluster) == "");
  }
}

TEST_CASE("a full three-tier tree of radix k has k*k/2 leaves, k*k/2 spines, k*k/4 cores and k^3/4 hosts") {
  for (const std::uint32_t k : {2U, 4U, 6U, 8U, 12U}) {
    CAPTURE(k);
    ClosSpec spec = clos_of_radix(k);
    spec.tiers = 3;
    const std::uint32_t n = k * k * k / 4;
    const Cluster cluster = fat_tree(hosts(n), spec);
    CHECK(count(*cluster.fabric, VertexKind::leaf) == k * k / 2);
    CHECK(count(*cluster.fabric, VertexKind::spine) == k * k / 2);
    CHECK(count(*cluster.fabric, VertexKind::core) == k * k / 4);
    CHECK(cluster.fabric->links() == 2 * 3 * n);
    CHECK(broken_routes(cluster) == "");
  }
}

TEST_CASE("no switch has more links than its radix, and every one of a tier below has as many up-links") {
  for (const std::uint32_t k : {4U, 8U, 10U}) {
    for (std::uint32_t n = 1; n <= k * k * k / 4; n += 1 + n / 3) {
      CAPTURE(k);
      CAPTURE(n);
      const Cluster cluster = fat_tree(hosts(n), clos_of_radix(k));
      for (std::uint32_t v = n; v < cluster.fabric->vertices(); ++v) {
        CHECK(cluster.fabric->out(VertexId{v}).count <= k);
      }
      CHECK(cluster.endpoints.size() == n);
      CHECK(broken_routes(cluster, 12) == "");
    }
  }
}

TEST_CASE("up-links of a leaf are the bandwidth below it divided by the oversubscription, rounded up") {
  for (const std::int64_t ratio : {1, 2, 3, 4}) {
    CAPTURE(ratio);
    ClosSpec spec = clos_of_radix(64);
    spec.hosts_per_leaf = 24;
    spec.tiers = 2;
    spec.leaf_oversubscription = Ratio{ratio, 1};
    const ClosShape shape = clos_shape(24 * 5, 0, spec);
    CHECK(shape.leaf_uplinks == (24 + ratio - 1) / ratio);
    spec.up_cable = cable(100);
    CHECK(clos_shape(24 * 5, 0, spec).leaf_uplinks == (12 + ratio - 1) / ratio);
  }
}

TEST_CASE("leaves and spines may be counted out: one cable from each leaf to each spine") {
  ClosSpec spec = clos_of_radix(64);
  spec.radix.reset();
  spec.leaves = 6;
  spec.spines = 4;
  const Cluster cluster = fat_tree(hosts(48), spec);
  CHECK(count(*cluster.fabric, VertexKind::leaf) == 6);
  CHECK(count(*cluster.fabric, VertexKind::spine) == 4);
  CHECK(cluster.fabric->links() == 2 * (48 + 6 * 4));
  REQUIRE(cluster.tiers.size() == 2);
  CHECK(cluster.tiers[0].oversubscription == Ratio{8, 4});
  CHECK(broken_routes(cluster) == "");
}

TEST_CASE("ecmp routes are minimal too, on trees with parallel cables") {
  ClosSpec spec = clos_of_radix(64);
  spec.leaves = 4;
  spec.spines = 2;
  spec.leaf_oversubscription = Ratio{1, 1};
  const Cluster cluster = fat_tree(hosts(32), spec, {Routing::ecmp, 5});
  CHECK(cluster.fabric->links() == 2 * (32 + 4 * 8));
  CHECK(broken_routes(cluster) == "");
}

TEST_CASE("ecmp spreads flows over all up-links, depends on the seed, and gives equal flows equal ways") {
  const Cluster one = fat_tree(hosts(32), clos_of_radix(8), {Routing::ecmp, 1});
  const Cluster two = fat_tree(hosts(32), clos_of_radix(8), {Routing::ecmp, 2});
  std::map<std::uint32_t, int> used;
  int differ = 0;
  for (std::uint64_t flow = 0; flow < 400; ++flow) {
    const auto path = route(one, VertexId{0}, VertexId{31}, flow);
    CHECK(path == route(one, VertexId{0}, VertexId{31}, flow));
    ++used[path[1].value];
    differ += path != route(two, VertexId{0}, VertexId{31}, flow) ? 1 : 0;
  }
  CHECK(used.size() == 4);
  for (const auto& [link, flows] : used) { CHECK(flows > 60); }
  CHECK(differ > 200);
}

TEST_CASE("with d-mod-k a ring on a non-blocking tree of sqrt(N) leaves shares no link") {
  for (const std::uint32_t leaves : {2U, 3U, 8U, 16U}) {
    CAPTURE(leaves);
    ClosSpec spec = clos_of_radix(64);
    spec.leaves = leaves;
    const Cluster cluster = fat_tree(hosts(leaves * leaves), spec);
    std::map<std::uint32_t, int> flows;
    for (std::uint32_t i = 0; i < leaves * leaves; ++i) {
      for (const LinkId link : route(cluster, VertexId{i}, VertexId{(i + 1) % (leaves * leaves)})) {
        ++flows[link.value];
      }
    }
    for (const auto& [link, count] : flows) { CHECK(count == 1); }
  }
}

TEST_CASE("with d-mod-k shifts of all hosts by any distance share no link on a full non-blocking tree") {
  for (const std::uint32_t tiers : {2U, 3U}) {
    const std::uint32_t k = 6;
    ClosSpec spec = clos_of_radix(k);
    spec.tiers = tiers;
    const std::uint32_t n = tiers == 2 ? k * k / 2 : k * k * k / 4;
    const Cluster cluster = fat_tree(hosts(n), spec);
    for (std::uint32_t shift = 1; shift < n; ++shift) {
      std::map<std::uint32_t, int> flows;
      int most = 0;
      for (std::uint32_t i = 0; i < n; ++i) {
        for (const LinkId link : route(cluster, VertexId{i}, VertexId{(i + shift) % n})) {
          most = std::max(most, ++flows[link.value]);
        }
      }
      CAPTURE(tiers);
      CAPTURE(shift);
      CHECK(most == 1);
    }
  }
}

TEST_CASE("rail-optimized: NIC r of a node is on leaf r of its group, and routes on one rail meet its leaf only") {
  const NodeSpec node = nvswitch_node(8, 8);
  ClosSpec spec = clos_of_radix(16);
  spec.hosts_per_leaf = 4;
  const Cluster cluster = rail_optimized(nodes(10, node), spec);
  CHECK(count(*cluster.fabric, VertexKind::leaf) == 3 * 8);
  CHECK(broken_routes(cluster) == "");
  for (std::uint32_t rail = 0; rail < 8; ++rail) {
    const VertexId from = cluster.endpoints[rail];
    const VertexId to = cluster.endpoints[3 * 8 + rail];
    const auto path = route(cluster, from, to);
    CHECK(broken(*cluster.fabric, from, to, path) == "");
    for (const LinkId link : path) {
      const Vertex& at = cluster.fabric->vertex(cluster.fabric->target(link));
      CHECK(at.kind != VertexKind::spine);
      if (at.kind == VertexKind::leaf) { CHECK(at.index == rail); }
      if (at.kind == VertexKind::nic) { CHECK(at.index == rail); }
    }
  }
}

TEST_CASE("GPU i of a node leaves by NIC i, and enters the other node by the NIC of the destination") {
  const Cluster cluster = fat_tree(nodes(4, nvswitch_node(8, 8)), clos_of_radix(16));
  for (std::uint32_t i = 0; i < 8; ++i) {
    const auto path = route(cluster, cluster.endpoints[i], cluster.endpoints[16 + (i + 3) % 8]);
    const Fabric& fabric = *cluster.fabric;
    std::vector<std::string> nics;
    for (const LinkId link : path) {
      if (fabric.vertex(fabric.target(link)).kind == VertexKind::nic) {
        nics.push_back(fabric.name(fabric.target(link)));
      }
    }
    REQUIRE(nics.size() == 2);
    CHECK(nics[0] == "node0/nic" + std::to_string(i));
    CHECK(nics[1] == "node2/nic" + std::to_string((i + 3) % 8));
  }
}

TEST_CASE("latency of a switched path is cables, switches and NICs") {
  using namespace literals;
  const Cluster cluster = star(nodes(2, nvswitch_node(1, 1)), cable());
  Time latency;
  for (const LinkId link : route(cluster, cluster.endpoints[0], cluster.endpoints[1])) {
    latency += cluster.fabric->link(link).latency;
  }
  CHECK(latency == 100_ns * 4 + 50_ns * 2 + 200_ns + 300_ns * 2);
}

TEST_CASE("what does not fit is refused with the size that would") {
  const auto refusal = [](auto&& make) -> Problem {
    try {
      make();
    } catch (const ScenarioError& error) { return error.problems().front(); }
    return {};
  };
  ClosSpec two = clos_of_radix(8);
  two.tiers = 2;
  CHECK(refusal([&] { fat_tree(hosts(33), two); }).code == "does-not-fit");
  CHECK(refusal([&] { fat_tree(hosts(33), two); }).hint.find("32") != std::string::npos);
  CHECK_NOTHROW(fat_tree(hosts(32), two));
  CHECK(refusal([&] { fat_tree(hosts(129), clos_of_radix(8)); }).hint.find("128") != std::string::npos);
  CHECK_NOTHROW(fat_tree(hosts(128), clos_of_radix(8)));
  CHECK(refusal([&] { star(hosts(9), cable(), 8); }).hint.find("at most 8") != std::string::npos);
  ClosSpec counted = clos_of_radix(8);
  counted.radix.reset();
  CHECK(refusal([&] { fat_tree(hosts(9), counted); }).hint.find("radix") != std::string::npos);
  counted.leaves = 4;
  CHECK(refusal([&] { fat_tree(hosts(9), counted); }).hint.find("3 leaves") != std::string::npos);
  counted.spines = 3;
  counted.leaf_oversubscription = Ratio{1, 1};
  CHECK(refusal([&] { fat_tree(hosts(16), counted); }).hint.find("2 or 4") != std::string::npos);
}

TEST_CASE("two billion GPUs are refused with the memory they would need, before anything is built") {
  try {
    fat_tree(nodes(250'000'000, nvswitch_node(8, 8)), clos_of_radix(64));
    FAIL("was built");
  } catch (const ScenarioError& error) {
    CHECK(error.problems().front().code == "too-large");
    CHECK(error.problems().front().message.find("GiB") != std::string::npos);
  }
  CHECK_THROWS_AS(torus(hosts(2'000'000'000), {2'000'000'000}), ScenarioError);
}

TEST_CASE("routing that a fabric cannot do is refused with what it can") {
  try {
    fat_tree(hosts(8), clos_of_radix(4), {Routing::dimension_order, 0});
    FAIL("was built");
  } catch (const ScenarioError& error) { CHECK(error.problems().front().hint == "use d_mod_k or ecmp"); }
}

TEST_CASE("pods may be counted, or leaves in each: both mean a third tier") {
  ClosSpec spec = clos_of_radix(64);
  spec.leaves = 12;
  spec.hosts_per_leaf = 8;
  spec.spines = 4;
  spec.radix.reset();
  for (const std::uint32_t pods : {1U, 2U, 3U, 4U, 6U, 12U}) {
    CAPTURE(pods);
    ClosSpec counted = spec;
    counted.pods = pods;
    ClosSpec sized = spec;
    sized.leaves_per_pod = 12 / pods;
    for (const ClosSpec& each : {counted, sized}) {
      const ClosShape shape = clos_shape(96, 0, each);
      CHECK(shape.tiers == 3);
      CHECK(shape.pods == pods);
      CHECK(shape.leaves_per_pod == 12 / pods);
      CHECK(shape.all_spines() == 4 * pods);
    }
    const Cluster cluster = fat_tree(hosts(96), counted);
    CHECK(broken_routes(cluster, 24) == "");
    const std::string end = pods > 1 ? " of 3 tiers and " + std::to_string(pods) + " pods" : " of 3 tiers";
    CHECK(cluster.description == "96 x host on a fat tree" + end);
  }
}

TEST_CASE("pods that cannot be are refused, and so are pods and cores of two tiers") {
  ClosSpec spec = clos_of_radix(64);
  spec.leaves = 10;
  spec.hosts_per_leaf = 8;
  spec.pods = 4;
  const auto message = [&] {
    try {
      clos_shape(80, 0, spec);
    } catch (const ScenarioError& error) { return std::string(error.what()); }
    return std::string();
  };
  CHECK(message() == "");  // three pods of three leaves and one of one
  spec.pods = 6;
  CHECK(message().find("10 leaves at 2 in a pod fill 5 pods, not 6; use 5 pods") != std::string::npos);
  spec.tiers = 2;
  CHECK(message().find("neither pods nor cores") != std::string::npos);
}
