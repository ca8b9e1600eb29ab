#include <doctest/doctest.h>

#include "models/execution/mapped_schedule.hpp"
#include "models/execution/simulate.hpp"
#include "sim/error.hpp"
#include "tests/algorithms/toy_schedules.hpp"
#include "tests/models/small_clusters.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

Primitive receive_then_send() {
  Primitive primitive;
  primitive.count = Elements{8};
  primitive.receives = {0, 1};
  primitive.sends = {0, 1};
  return primitive;
}

toys::Table two_ranks() {
  toys::Table table;
  table.agent_counts = {2, 2};
  table.agents.resize(2);
  table.memories.resize(2);
  table.limit = Elements{8};
  return table;
}

}  // namespace

TEST_CASE("ranks that wait for each other are named with lane, loop, step and what they wait for") {
  toys::Table table = two_ranks();
  table.add(0, {receive_then_send()});
  table.add(1, {receive_then_send()});
  table.join(0, 0, 1, 0);
  table.join(1, 0, 0, 0);
  const Cluster cluster = star(2, 1_GBps, 1_us);
  const UniformCosts costs;
  for (const bool classes : {true, false}) {
    SimulationOptions options;
    options.classes = classes;
    try {
      simulate(table, cluster, {{cluster.endpoints}, 1}, costs, options);
      FAIL("it ended");
    } catch (const SimulationError& error) {
      CHECK(error.code() == "deadlock");
      const std::string text = error.what();
      CHECK(text.find("rank 0 lane 0 loop 0 step 0, waits for a message from rank") != std::string::npos);
    }
  }
}

TEST_CASE("a lane that waits for one that never gets there is named with what it waits for") {
  toys::Table table = two_ranks();
  Primitive patient;
  patient.count = Elements{8};
  patient.wait = Wait{LaneId{1}, 2};
  table.add(0, {patient});
  table.add(0, {Primitive{}});
  const Cluster cluster = star(2, 1_GBps, 1_us);
  const UniformCosts costs;
  CHECK_THROWS_WITH_AS(simulate(table, cluster, {{cluster.endpoints}, 1}, costs, {}),
                       doctest::Contains("waits until its lane 1 has ended 2 primitives (now 1)"), SimulationError);
}
