#include "algorithms/synthesis/synthesis.hpp"

#include <doctest/doctest.h>

#include "algorithms/formats/msccl_export.hpp"
#include "algorithms/formats/msccl_import.hpp"
#include "algorithms/proof/prove.hpp"
#include "tests/algorithms/synthesis/graphs.hpp"

using namespace athanor;
using namespace athanor::testing;

namespace {

constexpr CollectiveKind kKinds[] = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                     CollectiveKind::all_reduce, CollectiveKind::all_to_all};

std::shared_ptr<const Synthesis> made_for(const CapacityGraph& graph, CollectiveKind kind) {
  SynthesisResult result = synthesise(graph, kind);
  REQUIRE_MESSAGE(result.synthesis, result.refusal);
  return std::make_shared<const Synthesis>(std::move(*result.synthesis));
}

void check_proof(const std::shared_ptr<const Synthesis>& synthesis, std::uint32_t ranks, bool in_place) {
  const Elements chunks{ranks * synthesis->units};
  const Collective collective{synthesis->kind, ranks, chunks, 0, in_place};
  const Algorithm algorithm = as_algorithm(synthesis, ranks);
  const auto violation = prove(*algorithm.make(collective, {}), collective, {.equal_counts = true});
  CHECK_MESSAGE(!violation, (violation ? explain({ranks, ranks}, *violation) : ""));
}

void check_all(const CapacityGraph& graph) {
  for (const CollectiveKind kind : kKinds) {
    CAPTURE(name(kind));
    const auto synthesis = made_for(graph, kind);
    check_proof(synthesis, graph.ranks, false);
    if (synthesis->in_place) { check_proof(synthesis, graph.ranks, true); }
    CHECK(synthesis->bound <= synthesis->time);
    if (kind != CollectiveKind::all_to_all) { CHECK(to_double(synthesis->time) <= 1.05 * to_double(synthesis->bound)); }
  }
}

}  // namespace

TEST_CASE("what is synthesised is proven, and within a twentieth of the bound") {
  SUBCASE("two ranks") { check_all(cable_ring({3, 4})); }
  SUBCASE("a ring of unequal cables") { check_all(cable_ring({5, 1, 5, 3, 2})); }
  SUBCASE("one switch") { check_all(one_switch(8, 25)); }
  SUBCASE("a torus of 2 x 2") { check_all(square_torus(2)); }
  SUBCASE("a torus of 4 x 4") { check_all(square_torus(4)); }
  SUBCASE("two tiers, oversubscribed") { check_all(two_tiers(4, 4, 20, 10)); }
  SUBCASE("rails") { check_all(rails(4, 4, 400, 50)); }
}

TEST_CASE("links may differ in their directions") {
  const CapacityGraph graph{3, 3, {{0, 1, 7}, {1, 0, 7}, {1, 2, 7}, {2, 1, 1}}};
  check_all(graph);
  CHECK(made_for(graph, CollectiveKind::all_gather)->bound == Ratio{1, 1});
  CHECK(made_for(graph, CollectiveKind::reduce_scatter)->bound == Ratio{2, 1});
  CHECK(made_for(graph, CollectiveKind::all_reduce)->bound == Ratio{3, 1});
}

TEST_CASE("graphs at random are proven and within a twentieth of the bound") {
  for (std::uint32_t seed = 0; seed < 25; ++seed) {
    CAPTURE(seed);
    check_all(random_graph(2 + seed % 7, seed % 3, seed % 9, 1 + seed % 6, seed));
  }
}

TEST_CASE("the XML of what is synthesised is the same algorithm") {
  const CapacityGraph graph = square_torus(3);
  for (const CollectiveKind kind : kKinds) {
    CAPTURE(name(kind));
    const auto synthesis = made_for(graph, kind);
    const Collective collective{kind, graph.ranks, Elements{graph.ranks * synthesis->units}};
    std::string xml;
    export_msccl(*as_algorithm(synthesis, graph.ranks).make(collective, {}), collective, "own",
                 [&](std::string_view text) { xml += text; });
    CHECK(import_msccl(xml, "own.xml").ranks() == graph.ranks);
  }
}

TEST_CASE("what cannot be synthesised is refused with its reason") {
  CHECK(synthesise(CapacityGraph{1, 1, {}}, CollectiveKind::all_gather).refusal == "one rank has nobody to send to");
  CHECK(synthesise(CapacityGraph{3, 3, {{0, 1, 1}, {1, 0, 1}}}, CollectiveKind::all_reduce).refusal ==
        "rank 0 cannot send to rank 2 by any links");
  CHECK(synthesise(square_torus(2), CollectiveKind::broadcast).refusal.find("broadcast cannot") != std::string::npos);
}
