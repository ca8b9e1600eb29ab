#include "models/jobs/schedulers/volcano/revocable_zones.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "gangs.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

/// Of three zones of a node each, beside one of no zone.
RevocableZones three_zones(const std::string& begins_at) {
  RevocableZoneRules rules;
  rules.zones = {
      {"day", 1, 1, "10:00", "12:30"}, {"over midnight", 2, 1, "22:00", "6:00"}, {"all day", 3, 1, "00:00", "00:00"}};
  rules.begins_at = begins_at;
  return {rules, 4};
}

/// Volcano with a zone of nodes from `first` on that is open from 01:00 to 02:00.
std::string night_of(std::uint32_t first, std::uint32_t nodes, const std::string& more = "") {
  return R"({"actions": ["enqueue", "allocate", "preempt"], "grace_period": "0s",
             "tiers": [["priority", {"name": "gang", "preemptable": false}], [{"name": "tdm", "zones":
               [{"name": "night", "first_node": )" +
         std::to_string(first) + R"(, "nodes": )" + std::to_string(nodes) + R"(, "from": "01:00", "to": "02:00"}])" +
         more + "}]]}";
}

JobList preemptible(JobList list) {
  for (Job& job : list.jobs) { job.preemptible = true; }
  return list;
}

}  // namespace

TEST_CASE("windows of Volcano's revocable zones end with their second, and at midnight") {
  const RevocableZones zones = three_zones("00:00");
  const auto open = [&](std::uint32_t node, WallTime at) { return zones.is_open(NodeId{node}, at); };
  CHECK(!zones.is_revocable(NodeId{0}));
  CHECK(!open(0, 11_wall_h));
  CHECK(!open(1, 10_wall_h - 1_wall_us));
  CHECK(open(1, 10_wall_h));
  CHECK(open(1, 12_wall_h + 1'800_wall_s));
  CHECK(!open(1, 12_wall_h + 1'801_wall_s));
  CHECK(open(1, 34_wall_h));  // the next day
  CHECK(open(2, 22_wall_h));
  CHECK(!open(2, 25_wall_h));  // 01:00 is before the window that opens on that day
  for (const WallTime at : {0_wall_h, 13_wall_h, 47_wall_h}) { CHECK(open(3, at)); }
  CHECK(zones.next_change(0_wall_h) == 10_wall_h);
  CHECK(zones.next_change(10_wall_h) == 12_wall_h + 1'801_wall_s);
  CHECK(zones.next_change(22_wall_h) == 24_wall_h);
  CHECK(three_zones("09:00").is_open(NodeId{1}, 1_wall_h));
}

TEST_CASE("tdm: revocable nodes are for preemptible jobs, in their window, and before others") {
  const JobList plain = list_of({Gang{0, 100, 1, 8}, Gang{0, 100, 2, 8}});
  const JobsRun never = run_of(plain, equal_nodes(2, 8), "volcano", night_of(1, 1));
  CHECK(ended(never, 0) < wall_seconds(200));
  CHECK(never.outcomes[JobId{1}].starts == 0);  // it needs both nodes
  REQUIRE(never.stuck.size() == 1);

  const JobsRun waits = run_of(preemptible(plain), equal_nodes(2, 8), "volcano", night_of(1, 1));
  CHECK(started(waits, 1) == wall_seconds(3600));
  CHECK(ended(waits, 1) == wall_seconds(3700));

  JobsRules keeps;
  keeps.keep_allocations = true;
  const JobList one = preemptible(list_of({Gang{3700, 100, 1, 8}}));
  const JobsRun first = run_of(one, equal_nodes(2, 8), "volcano", night_of(1, 1), "best_fit", keeps);
  CHECK(first.outcomes[JobId{0}].where.front().node == NodeId{1});
}

TEST_CASE("tdm: at the end of a window each job loses a task every period") {
  JobList list = preemptible(list_of({Gang{3600, 7200, 4, 2}}));
  const auto run = [&](const std::string& more) {
    return run_of(list, equal_nodes(2, 8), "volcano", night_of(0, 2, more));
  };
  const JobsRun whole = run("");
  // It runs from 3,601 to 7,201 s, loses one task and with it all, and the rest in the next night.
  CHECK(started(whole, 0) == wall_seconds(3601));
  CHECK(whole.outcomes[JobId{0}].starts == 2);
  CHECK(ended(whole, 0) == wall_seconds(24 * 3600 + 3600 + 3600));

  // An elastic one that goes on with a single GPU gives them back one by one.
  list = preemptible(list_of({Gang{3600, 100'000, 4, 1}}));
  list.jobs[JobId{0}].least_gpus = 1;
  list.jobs[JobId{0}].most_gpus = 4;
  const auto starts = [&](const std::string& more) { return run(more).outcomes[JobId{0}].starts; };
  CHECK(run(R"(, "evict_period": "10min")").stuck.empty());
  CHECK(starts(R"(, "evict_period": "10min")") > 3);
}

TEST_CASE("tdm: jobs that are not preemptible take others' GPUs on nodes of no zone, one of each at a time") {
  const std::string keys = night_of(1, 1);
  JobList list = list_of({Gang{0, 1000, 1, 8}, Gang{10, 50, 1, 8}});
  const auto second = [&](bool first_is, bool second_is) {
    list.jobs[JobId{0}].preemptible = first_is;
    list.jobs[JobId{1}].preemptible = second_is;
    return started(run_of(list, equal_nodes(2, 8), "volcano", keys), 1);
  };
  CHECK(second(true, false) < wall_seconds(20));
  CHECK(second(false, false) >= wall_seconds(1000));
  CHECK(second(true, true) >= wall_seconds(1000));
}
