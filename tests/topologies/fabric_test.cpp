#include "topologies/fabric/fabric.hpp"

#include <doctest/doctest.h>

#include "sim/check.hpp"
#include "topologies/fabric/fabric_builder.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

const Link kLink{50_GBps, 45_GBps, 500_ns, LinkKind::network};

}  // namespace

TEST_CASE("links are numbered by source, and at one source in the order in which they were added") {
  FabricBuilder builder;
  const VertexId a = builder.add({VertexKind::host, kNoNode, 0});
  const VertexId b = builder.add({VertexKind::host, kNoNode, 1});
  const VertexId c = builder.add({VertexKind::leaf, kNoNode, 0});
  builder.add_link(c, b, kLink);
  builder.add_link(a, c, kLink);
  builder.add_link(c, a, kLink);
  builder.add_link(c, b, kLink);
  const Fabric fabric = builder.build();
  REQUIRE(fabric.vertices() == 3);
  REQUIRE(fabric.links() == 4);
  CHECK(fabric.out(a).first == 0);
  CHECK(fabric.out(a).count == 1);
  CHECK(fabric.out(b).count == 0);
  CHECK(fabric.out(c).first == 1);
  CHECK(fabric.out(c).count == 3);
  CHECK(fabric.target(LinkId{1}) == b);
  CHECK(fabric.target(LinkId{2}) == a);
  CHECK(fabric.target(LinkId{3}) == b);
  CHECK(fabric.source(LinkId{3}) == c);
  CHECK(fabric.link(LinkId{0}).usable == 45_GBps);
}

TEST_CASE("names are those of the explicit list, else kind and number within node or fabric") {
  FabricBuilder builder;
  const VertexId gpu = builder.add({VertexKind::gpu, 3, 5});
  const VertexId leaf = builder.add({VertexKind::leaf, kNoNode, 12});
  builder.connect(gpu, leaf, kLink);
  const Fabric computed = builder.build();
  CHECK(computed.name(gpu) == "node3/gpu5");
  CHECK(computed.name(leaf) == "leaf12");
  CHECK(computed.name(LinkId{0}) == "node3/gpu5 -> leaf12");

  const VertexId named = builder.add_named(VertexKind::custom, "the crossbar");
  CHECK(builder.build().name(named) == "the crossbar");
}

TEST_CASE("a fabric may be empty, and a vertex may have no link") {
  FabricBuilder builder;
  CHECK(builder.build().vertices() == 0);
  const VertexId alone = builder.add({VertexKind::host, kNoNode, 0});
  const Fabric fabric = builder.build();
  CHECK(fabric.vertices() == 1);
  CHECK(fabric.links() == 0);
  CHECK(fabric.out(alone).count == 0);
}

TEST_CASE("the builder refuses links that no fabric can have") {
  FabricBuilder builder;
  const VertexId a = builder.add({VertexKind::host, kNoNode, 0});
  const VertexId b = builder.add({VertexKind::host, kNoNode, 1});
  CHECK_THROWS_AS(builder.connect(a, a, kLink), BrokenInvariant);
  CHECK_THROWS_AS(builder.connect(a, VertexId{2}, kLink), BrokenInvariant);
  CHECK_THROWS_AS(builder.connect(a, b, Link{50_GBps, 51_GBps, 0_ns, LinkKind::network}), BrokenInvariant);
  CHECK_THROWS_AS(builder.connect(a, b, Link{50_GBps, Bandwidth::zero(), 0_ns, LinkKind::network}), BrokenInvariant);
  CHECK_THROWS_AS(builder.connect(a, b, Link{50_GBps, 50_GBps, Time{-1}, LinkKind::network}), BrokenInvariant);
}
