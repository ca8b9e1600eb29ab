#include <doctest/doctest.h>

#include "models/engines/trees/aggregation_manager.hpp"
#include "tests/models/engines/two_tiers.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::testing;

namespace {

TreeRequest stream(std::uint32_t job, const std::vector<VertexId>& hosts) {
  return {.job = job, .groups = {hosts}, .streaming = true};
}

using Jobs = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("jobs that take turns wait for those that hold their switches, and for nobody else") {
  const Cluster cluster = two_tiers();
  TreeAdmission turns(*cluster.fabric, {.streams_per_switch = 1}, std::nullopt, false);
  CHECK(turns.grant(stream(0, hosts_of(cluster, {0, 1}))).trees.size() == 1);
  CHECK(turns.grant(stream(1, hosts_of(cluster, {2, 3}))).trees.size() == 1);
  CHECK(turns.grant(stream(2, hosts_of(cluster, {1, 4}))).trees.size() == 1);
  CHECK(turns.grant(stream(3, hosts_of(cluster, {4, 5}))).trees.size() == 1);
  CHECK(turns.grant(stream(4, hosts_of(cluster, {1, 2, 4}))).trees.size() == 1);
  CHECK(turns.before(0).empty());
  CHECK(turns.before(1).empty());
  CHECK(turns.before(2) == Jobs{0});     // for leaf1
  CHECK(turns.before(3) == Jobs{0, 2});  // nobody overtakes: job 2 has asked for leaf4 before
  CHECK(turns.before(4) == Jobs{0, 1, 2, 3});
}

TEST_CASE("a look takes nothing, and exclusive engines refuse who comes too late") {
  const Cluster cluster = two_tiers();
  TreeAdmission turns(*cluster.fabric, {.streams_per_switch = 1}, std::nullopt, true);
  CHECK(turns.try_grant(stream(0, hosts_of(cluster, {0, 1}))).trees.size() == 1);
  CHECK(turns.try_grant(stream(1, hosts_of(cluster, {1, 2}))).trees.size() == 1);
  CHECK(turns.grant(stream(1, hosts_of(cluster, {1, 2}))).trees.size() == 1);
  CHECK(turns.grant(stream(0, hosts_of(cluster, {0, 1}))).refusal->reason ==
        "the streaming tree of leaf1 is held by job 1");
  CHECK(turns.before(0).empty());
}

TEST_CASE(
    "who is stopped by a limit of the subnet waits for all of the turn before, and no turn helps where none can") {
  const Cluster cluster = two_tiers();
  TreeAdmission turns(*cluster.fabric, {.streams = 2}, std::nullopt, false);
  for (std::uint32_t job = 0; job < 5; ++job) {
    CHECK(turns.grant(stream(job, hosts_of(cluster, {job}))).trees.size() == 1);
  }
  CHECK(turns.before(1).empty());
  CHECK(turns.before(2) == Jobs{0, 1});
  CHECK(turns.before(4) == Jobs{2, 3});
  TreeAdmission never(*cluster.fabric, {.streams = 0}, std::nullopt, false);
  CHECK(never.grant(stream(0, hosts_of(cluster, {0}))).refusal->reason == "the subnet has no streaming trees");
}
