#include "models/jobs/mig.hpp"

#include <algorithm>
#include <random>
#include <string>

#include <doctest/doctest.h>

#include "models/jobs/inventory.hpp"
#include "small_jobs.hpp"

using namespace athanor;

namespace {

/// The number of a slice of a type.
std::uint8_t slice(std::string_view type, std::string_view name) {
  const std::vector<MigProfile> all = mig_profiles(type);
  const auto found = std::find_if(all.begin(), all.end(), [&](const MigProfile& each) { return each.name == name; });
  REQUIRE(found != all.end());
  return found->slice;
}

Demand demand_of(std::uint8_t number) { return {.gpu_milli = mig_slice(number).gpu_milli(), .slice = number}; }

/// Slices put on one GPU, in this order; false: one did not fit.
bool fit(const std::vector<std::string>& names, std::uint8_t& taken) {
  for (const std::string& name : names) {
    const MigSlice& own = mig_slice(slice("A100-SXM-80GB", name));
    const auto start = mig_start(own, taken);
    if (!start) { return false; }
    CHECK((taken & own.at(*start)) == 0);
    taken |= own.at(*start);
  }
  return true;
}

bool fit(const std::vector<std::string>& names) {
  std::uint8_t taken = 0;
  return fit(names, taken);
}

}  // namespace

TEST_CASE("a GPU has as many slices of one kind as NVIDIA says") {
  const std::vector<std::pair<const char*, std::uint32_t>> counts = {{"1g.10gb", 7}, {"1g.20gb", 4}, {"2g.20gb", 3},
                                                                     {"3g.40gb", 2}, {"4g.40gb", 1}, {"7g.80gb", 1}};
  for (const char* type : {"A100-SXM-80GB", "H100-SXM-80GB", "NVIDIA A100-SXM4-80GB"}) {
    for (const auto& [name, count] : counts) { CHECK(mig_room(mig_slice(slice(type, name)), 0) == count); }
  }
  CHECK(mig_room(mig_slice(slice("A30-24GB", "1g.6gb")), 0) == 4);
  CHECK(mig_room(mig_slice(slice("A30", "2g.12gb")), 0) == 2);
  CHECK(mig_room(mig_slice(slice("A30", "4g.24gb")), 0) == 1);
  CHECK(mig_profiles("H200-SXM-141GB").front().name == "1g.18gb");
  CHECK(mig_profiles("GH200-96GB").front().name == "1g.12gb");
  CHECK(mig_profiles("V100-SXM2-32GB").empty());
  CHECK(mig_profiles("A100").size() == 12);  // of 40 or 80 GB
}

TEST_CASE("slices are put where they leave room for larger ones") {
  CHECK(fit({"1g.10gb", "1g.10gb", "1g.10gb", "4g.40gb"}));
  CHECK(fit({"3g.40gb", "4g.40gb"}));
  CHECK(fit({"3g.40gb", "3g.40gb"}));
  CHECK_FALSE(fit({"3g.40gb", "3g.40gb", "1g.10gb"}));
  CHECK(fit({"2g.20gb", "2g.20gb", "2g.20gb", "1g.10gb"}));
  CHECK_FALSE(fit({"4g.40gb", "4g.40gb"}));
  CHECK_FALSE(fit({"1g.10gb", "7g.80gb"}));
  CHECK(fit({"1g.10gb", "2g.20gb", "4g.40gb"}));
}

TEST_CASE("slices, shares and whole GPUs come and go, and leave everything free") {
  std::mt19937_64 random(7);
  const NodeList nodes = equal_nodes(3, 4);
  JobList jobs;
  for (const char* policy : {"best_fit", "first_fit", "consolidate", "spread", "fgd", "scored_best_fit"}) {
    CAPTURE(policy);
    Inventory inventory(nodes, jobs);
    const auto placement = placement_of(policy, jobs, nodes);
    std::vector<std::pair<Allocation, Shape>> taken;
    for (int i = 0; i < 3000; ++i) {
      if (random() % 3 == 0 && !taken.empty()) {
        std::swap(taken[random() % taken.size()], taken.back());
        inventory.give_back(taken.back().first, taken.back().second);
        taken.pop_back();
        continue;
      }
      Demand each = demand_of(static_cast<std::uint8_t>(1 + random() % kMigSlices.size()));
      if (random() % 5 == 0) { each = {.gpus = 2}; }
      if (random() % 5 == 0) { each = {.gpu_milli = 400}; }
      const Shape shape = {{static_cast<std::uint32_t>(1 + random() % 3), each}};
      if (auto where = placement->place(shape, inventory)) { taken.emplace_back(std::move(*where), shape); }
    }
    CHECK(taken.size() > 5);
    for (const auto& [where, shape] : taken) { inventory.give_back(where, shape); }
    CHECK(inventory.free_gpus() == 12);
    for (const NodeId node : nodes.nodes.ids()) { CHECK(inventory.room(node, demand_of(1)) == 4 * 7); }
  }
}

TEST_CASE("a GPU that is split gets slices alone, and one that is shared is not split") {
  const NodeList nodes = equal_nodes(1, 1);
  JobList jobs;
  Inventory inventory(nodes, jobs);
  const Demand small = demand_of(1);
  const Demand shared{.gpu_milli = 100};
  const NodeShare one = inventory.share(NodeId{0}, 0, small, 1);
  inventory.take(one, small);
  CHECK(inventory.room(NodeId{0}, shared) == 0);
  CHECK(inventory.room(NodeId{0}, small) == 6);
  CHECK(inventory.room(NodeId{0}, {.gpus = 1}) == 0);
  inventory.give_back(one, small);
  inventory.take(inventory.share(NodeId{0}, 0, shared, 1), shared);
  CHECK(inventory.room(NodeId{0}, small) == 0);
  CHECK(inventory.room(NodeId{0}, shared) == 9);
}

namespace {

/// Jobs with whole GPUs, shares of them and, if wanted, slices.
JobList mixed_jobs(bool slices) {
  std::mt19937_64 random(11);
  JobList jobs;
  for (int i = 0; i < 300; ++i) {
    Job job;
    job.name = jobs.name("job " + std::to_string(i));
    job.queue = jobs.name("a");
    job.submitted = wall_seconds(static_cast<std::int64_t>(random() % 5000));
    job.duration = job.expected = wall_seconds(1 + static_cast<std::int64_t>(random() % 300));
    job.priority = static_cast<std::int32_t>(random() % 3);
    Demand each = demand_of(static_cast<std::uint8_t>(1 + random() % kMigSlices.size()));
    if (random() % 4 == 0 || !slices) { each = {.gpus = static_cast<std::uint16_t>(1 + random() % 2)}; }
    if (random() % 6 == 0) { each = {.gpu_milli = 300}; }
    job.shape = jobs.shape({{static_cast<std::uint32_t>(1 + random() % 3), each}});
    jobs.jobs.push_back(job);
  }
  jobs.sort();
  return jobs;
}

}  // namespace

TEST_CASE("schedulers run jobs with slices to their end, those that take nodes away, too") {
  const NodeList nodes = equal_nodes(3, 2);
  const std::string evicting =
      R"({"queues": [{"name": "a"}], "actions": ["enqueue", "allocate", "preempt", "backfill"]})";
  const std::string quota = R"({"cluster_queues": [{"name": "a", "nominal_quota": 6}]})";
  const std::string queues = R"({"queues": [{"name": "a"}]})";
  const std::vector<std::pair<std::string, std::string>> schedulers = {{"fifo", "{}"},
                                                                       {"fifo", R"({"backfill": "greedy"})"},
                                                                       {"fifo", R"({"backfill": "conservative"})"},
                                                                       {"sjf", "{}"},
                                                                       {"srtf", "{}"},
                                                                       {"las", "{}"},
                                                                       {"slurm", "{}"},
                                                                       {"kubernetes", R"({"gang_timeout": "5min"})"},
                                                                       {"kueue", quota},
                                                                       {"volcano", queues},
                                                                       {"volcano", evicting}};
  for (const auto& [scheduler, keys] : schedulers) {
    CAPTURE(scheduler);
    CAPTURE(keys);
    const JobsRun run = run_of(mixed_jobs(keys != evicting), nodes, scheduler, keys);
    const auto completed = [](const JobOutcome& outcome) { return outcome.state == JobState::completed; };
    CHECK(std::count_if(run.outcomes.begin(), run.outcomes.end(), completed) == 300);
  }
}
