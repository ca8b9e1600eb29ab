#include "topologies/kinds/catalog.hpp"

#include <doctest/doctest.h>

#include "tests/topologies/route_laws.hpp"
#include "topologies/cluster.hpp"
#include "topologies/formats/description.hpp"

using namespace athanor;
using namespace athanor::test;

TEST_CASE("what is known of a topology is whole") {
  for (const Topology& topology : topologies()) {
    CAPTURE(topology.name);
    for (const std::string* text : {&topology.title, &topology.explanation, &topology.symbols, &topology.endpoints,
                                    &topology.switches, &topology.cables, &topology.diameter, &topology.bisection}) {
      CHECK_FALSE(text->empty());
    }
    CHECK_FALSE(topology.routings.empty());
  }
}

TEST_CASE("a full rail-optimized tree of two tiers has the leaves, spines, cables and halves that are listed") {
  for (const auto& [k, r] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{{8, 2}, {8, 4}, {16, 4}, {16, 8}}) {
    ClosSpec spec = clos_of_radix(k);
    spec.tiers = 2;
    const Cluster cluster = rail_optimized(nodes(k / r * k / 2, nvswitch_node(r, r)), spec);
    CAPTURE(cluster.description);
    CHECK(count(*cluster.fabric, VertexKind::leaf) + count(*cluster.fabric, VertexKind::spine) == 3 * k / 2);
    CHECK(count(*cluster.fabric, LinkKind::network) == 2 * (k * k / 2 + k * k / 2));
    CHECK(describe(cluster).bisection->bandwidth == cable().rate * (k * k / 4));
  }
}
