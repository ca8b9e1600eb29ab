#include "models/jobs/data/data_speed.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "tests/models/jobs/small_jobs.hpp"

using namespace athanor;

namespace {

struct DataRun {
  JobsRun run;
  std::vector<DataAccount> jobs;
  std::vector<StorageAccount> storages;

  double seconds_of(std::uint32_t job) const {
    return seconds(run.outcomes[JobId{job}].ended - run.outcomes[JobId{job}].started);
  }
};

/// All jobs read and write as `rules.io[1]` says.
DataRun run_with(const std::vector<SmallJob>& jobs, const NodeList& nodes, const DataRules& rules,
                 const CheckpointRules& checkpoints = {}) {
  JobList list = list_of(jobs);
  for (Job& job : list.jobs) { job.io = IoId{1}; }
  const auto placement = placement_of("first_fit", list, nodes);
  const auto scheduler = scheduler_of("fifo", list, nodes);
  DataSpeed speeds(std::make_unique<FullSpeed>(), rules, list);
  JobsRules all;
  all.checkpoints = checkpoints;
  DataRun done;
  done.run = simulate_jobs(list, nodes, *placement, *scheduler, speeds, all);
  for (const JobId job : list.jobs.ids()) { done.jobs.push_back(speeds.account(job)); }
  done.storages = speeds.storages();
  return done;
}

/// A thousand items of 1 MB on a storage of 10 MB/s.
DataRules a_gigabyte(std::uint32_t epochs) {
  DataRules rules;
  rules.storages.push_back({.name = "nas", .read = 10e6});
  rules.data_sets.push_back({.name = "images", .bytes = 1e9, .items = 1000});
  rules.io = {{}, {.data_set = 0, .epochs = epochs}};
  return rules;
}

DataRules with_cache(DataRules rules, DataCache cache) {
  rules.caches = {std::move(cache)};
  rules.data_sets[0].caches = {0};
  return rules;
}

}  // namespace

TEST_CASE("a job works as fast as the slowest of storage, cores and GPUs") {
  // 10 epochs in 500 s of GPUs, 1000 s of the storage.
  DataRun done = run_with({{0, 500, 1}}, equal_nodes(1, 8), a_gigabyte(10));
  CHECK(done.seconds_of(0) == doctest::Approx(1000));
  CHECK(done.jobs[0].from_storage == doctest::Approx(10e9));
  CHECK(done.jobs[0].waiting_fetch == doctest::Approx(500));
  CHECK(done.storages[0].read == doctest::Approx(10e9));
  CHECK(done.storages[0].busiest_read == doctest::Approx(10e6));
  CHECK(run_with({{0, 2000, 1}}, equal_nodes(1, 8), a_gigabyte(10)).seconds_of(0) == doctest::Approx(2000));
  DataRules rules = a_gigabyte(10);
  rules.io[1].cpu_seconds = 0.6;
  rules.io[1].cores_per_gpu = 3;
  done = run_with({{0, 500, 1}}, equal_nodes(1, 8), rules);
  CHECK(done.seconds_of(0) == doctest::Approx(2000));
  CHECK(done.jobs[0].waiting_cpu == doctest::Approx(1500));
  CHECK(done.jobs[0].waiting_fetch == doctest::Approx(0).scale(1).epsilon(0.01));
}

TEST_CASE("fetching takes 1 / (x / C + (1 - x) / S) of a cache that holds x of the data") {
  const double x = 0.65;
  const auto rules =
      with_cache(a_gigabyte(2), {.name = "minio", .eviction = Eviction::none, .capacity = x * 1e9, .node_rate = 40e6});
  const DataRun done = run_with({{0, 2, 1}}, equal_nodes(1, 8), rules);
  CHECK(done.jobs[0].first_epoch == doctest::Approx(100));
  CHECK(done.seconds_of(0) == doctest::Approx(100 + 1e9 * (x / 40e6 + (1 - x) / 10e6)));
  CHECK(done.jobs[0].hit_share() == doctest::Approx(x / 2));
}

TEST_CASE("jobs that read from one storage share its rate by their nodes, and what one leaves the others have") {
  // 1 GB each: together until 2/3 of the larger one's 1 GB ...
  const DataRun done = run_with({{0, 1, 16}, {0, 1, 8}}, equal_nodes(3, 8), a_gigabyte(1));
  CHECK(done.seconds_of(0) == doctest::Approx(150));
  CHECK(done.seconds_of(1) == doctest::Approx(200));
  CHECK(done.storages[0].read == doctest::Approx(2e9));
}

TEST_CASE("the time that jobs work and wait is all of their time, however often others come and go") {
  const DataRun done = run_with({{0, 1, 16}, {0, 1, 8}, {30, 1, 8}, {60, 1, 24}}, equal_nodes(7, 8), a_gigabyte(1));
  for (std::uint32_t job = 0; job < 4; ++job) {
    CHECK(done.jobs[job].working == doctest::Approx(done.seconds_of(job)));
    CHECK(done.jobs[job].waiting_fetch == doctest::Approx(done.seconds_of(job) - 1));
  }
}

TEST_CASE("jobs on one node share its cache: each reads what others have read") {
  const auto rules = with_cache(a_gigabyte(20), {.name = "page cache", .capacity = 0.35e9});
  const auto share = [&](std::size_t jobs) {
    const std::vector<SmallJob> alike(jobs, {0, 10, 1});
    const DataRun done = run_with(alike, equal_nodes(1, 8), rules);
    return done.storages[0].read / (20e9 * static_cast<double>(jobs));
  };
  // The first epoch misses all, those that follow 86 %.
  CHECK(share(1) == doctest::Approx((1 + 19 * 0.86) / 20).epsilon(0.002));
  CachedReading together{Eviction::random, false, 0.35, 0, 1, 8};
  double missed = read_through(together).miss;
  together.held = 0.35;
  missed += 19 * read_through(together).miss;
  CHECK(share(8) == doctest::Approx(missed / 20).epsilon(0.001));
}

TEST_CASE("data sets that are read through one cache at one time divide it") {
  DataRules rules = with_cache(a_gigabyte(20), {.name = "page cache", .capacity = 0.7e9});
  rules.data_sets.push_back(rules.data_sets[0]);
  rules.data_sets[1].name = "texts";
  rules.io.push_back({.data_set = 1, .epochs = 20});
  JobList list = list_of({{0, 10, 1}, {0, 10, 1}});
  list.jobs[JobId{0}].io = IoId{1};
  list.jobs[JobId{1}].io = IoId{2};
  const NodeList nodes = equal_nodes(1, 8);
  DataSpeed speeds(std::make_unique<FullSpeed>(), rules, list);
  const auto placement = placement_of("first_fit", list, nodes);
  const auto scheduler = scheduler_of("fifo", list, nodes);
  simulate_jobs(list, nodes, *placement, *scheduler, speeds, {});
  for (const JobId job : list.jobs.ids()) {
    // As if each had a cache of 35 % for itself.
    CHECK(1 - speeds.account(job).hit_share() == doctest::Approx((1 + 19 * 0.86) / 20).epsilon(0.002));
  }
}

TEST_CASE("storages limit clients, files opened, and streams that wait for the first byte of each file") {
  const auto took = [](const Storage& storage, std::uint32_t gpus) {
    DataRules rules = a_gigabyte(1);
    rules.storages = {storage};
    return run_with({{0, 1, gpus}}, equal_nodes(4, 8), rules).seconds_of(0);
  };
  CHECK(took({.name = "s", .read = 100e6, .node_read = 10e6}, 8) == doctest::Approx(100));
  CHECK(took({.name = "s", .read = 100e6, .node_read = 10e6}, 32) == doctest::Approx(25));
  CHECK(took({.name = "s", .operations = 5}, 32) == doctest::Approx(200));
  // 1 MB in 0.1 s + 0.1 s, 4 files at a time.
  CHECK(took({.name = "s", .first_byte = 0.1, .stream = 10e6, .streams = 4}, 8) == doctest::Approx(50));
  CHECK(took({.name = "s", .on_nodes = true, .read = 10e6}, 32) == doctest::Approx(25));
}

TEST_CASE("a cache of all nodes reads the data once, caches of nodes each for itself") {
  const auto read = [](DataCache cache, ReadOrder order) {
    DataRules rules = with_cache(a_gigabyte(40), std::move(cache));
    rules.data_sets[0].order = order;
    return run_with({{0, 10, 32}}, equal_nodes(4, 8), rules).storages[0].read;
  };
  CHECK(read({.name = "c", .shared = true, .eviction = Eviction::least_recent, .capacity = 2e9}, ReadOrder::shuffled) ==
        doctest::Approx(1e9));
  CHECK(read({.name = "c", .shared = true, .capacity = 2e9, .loaded = true}, ReadOrder::shuffled) == 0);
  // Each node reads a random quarter in each epoch until it has all.
  CHECK(read({.name = "c", .capacity = 2e9}, ReadOrder::shuffled) == doctest::Approx(4e9).epsilon(0.001));
  CHECK(read({.name = "c", .capacity = 2e9}, ReadOrder::sharded) == doctest::Approx(1e9));
}

TEST_CASE("ResNet-50 over ImageNet from a NAS and through Fluid: published epochs and totals") {
  // From two measurements of one node, 8 V100: the NAS by the first 1000 steps (2,048,000 images in 853 s, of which
  // the second epoch is as fast as from memory), the GPUs by a warm cache. All else follows.
  constexpr double kImages = 1'281'167;
  constexpr double kBytes = 144e9;
  const auto run = [&](std::uint32_t nodes, double gpu_rate, DataCache cache) {
    DataRules rules;
    const double nas = kImages / (2'048'000 / 2400.8 - (2'048'000 - kImages) / 9327.6);
    rules.storages.push_back({.name = "nas", .read = nas * kBytes / kImages});
    rules.data_sets.push_back({.name = "imagenet", .bytes = kBytes, .items = kImages});
    rules.io = {{}, {.data_set = 0, .epochs = 90}};
    rules = with_cache(std::move(rules), std::move(cache));
    const auto work = static_cast<std::int64_t>(std::llround(90 * kImages / gpu_rate));
    return run_with({{0, work, nodes * 8}}, equal_nodes(nodes, 8), rules).seconds_of(0);
  };
  const DataCache page_cache{.name = "page cache", .capacity = 300e9};
  const DataCache cold{.name = "alluxio", .shared = true, .eviction = Eviction::least_recent, .capacity = 600e9};
  DataCache warm = cold;
  warm.loaded = true;
  // Published are total times with some 500 s of starting up, and images a second over all steps.
  CHECK(run(1, 9301.6, page_cache) == doctest::Approx(13'258).epsilon(0.03));  // 8696.8 img/s; 13,750 s
  CHECK(run(1, 9301.6, cold) == doctest::Approx(13'264).epsilon(0.03));        // 8692.8 img/s; 13,840 s
  CHECK(run(1, 9301.6, warm) == doctest::Approx(12'396).epsilon(0.001));
  CHECK(run(4, 21'329, page_cache) == doctest::Approx(7672).epsilon(0.02));  // 15,024 img/s; 8159 s
  CHECK(run(4, 21'329, cold) == doctest::Approx(5621).epsilon(0.1));         // 20,506 img/s; 6223 s
}

TEST_CASE("MLPerf Storage: what an emulated accelerator asks for, and the rates that were submitted at its limit") {
  struct Published {
    double batch, compute, record, at_full_use, least_use, submitted;
  };
  constexpr double kMiB = 1 << 20;
  // The last column: the median of the submissions of v1.0, MiB/s of one accelerator.
  const std::vector<Published> published = {{7, 0.323, 146'600'628, 3030, 0.9, 2753},
                                            {1, 0.0035, 2'828'486, 770.7, 0.7, 551.5},
                                            {7, 0.636, 146'600'628, 1539, 0.9, 1397},
                                            {1, 0.00551, 2'828'486, 489.6, 0.7, 347.2}};
  for (const Published& each : published) {
    constexpr std::int64_t kSteps = 1'000'000;
    DataRules rules;
    const double items = each.batch * static_cast<double>(kSteps);
    const auto work = static_cast<std::int64_t>(each.compute * static_cast<double>(kSteps));
    rules.data_sets.push_back({.name = "d", .bytes = items * each.record, .items = items});
    rules.io = {{}, {.data_set = 0}};
    const auto use_at = [&](double mib) {
      rules.storages = {{.name = "s", .read = mib * kMiB}};
      return static_cast<double>(work) / run_with({{0, work, 1}}, equal_nodes(1, 1), rules).seconds_of(0);
    };
    CHECK(use_at(each.at_full_use * 1.001) == doctest::Approx(1).epsilon(0.001));
    CHECK(use_at(each.at_full_use * 0.5) == doctest::Approx(0.5).epsilon(0.001));
    CHECK(use_at(each.submitted) >= each.least_use);
    CHECK(use_at(each.submitted) == doctest::Approx(each.least_use).epsilon(0.03));
  }
}

TEST_CASE("a job that begins again reads its checkpoint, if it has one") {
  DataRules rules;
  rules.storages.push_back({.name = "fs", .read = 5e9, .write = 10e9});
  rules.checkpoint_storage = 0;
  rules.io = {{}, {.checkpoint_bytes = 100e9}};
  JobList list = list_of({{0, 7200, 8}});
  list.jobs[JobId{0}].io = IoId{1};
  const NodeList nodes = equal_nodes(1, 8);
  DataSpeed speeds(std::make_unique<FullSpeed>(), rules, list);
  JobsRules all;
  all.checkpoints.rule = CheckpointRules::Rule::fixed;
  all.checkpoints.interval = wall_seconds(3000);
  FailureSource source;
  source.what = FailureSource::What::job;
  source.name = "job";
  source.between.law = RandomSpan::Law::fixed;
  source.between.mean = wall_seconds(3600);
  all.failures.sources.push_back(source);
  const auto placement = placement_of("first_fit", list, nodes);
  const auto scheduler = scheduler_of("fifo", list, nodes);
  const JobsRun run = simulate_jobs(list, nodes, *placement, *scheduler, speeds, all);
  // Every 3600 s it fails: with 3000 s saved, then with 6000 s, each after a checkpoint of 10 s.
  CHECK(run.outcomes[JobId{0}].interruptions == 2);
  CHECK(seconds(run.outcomes[JobId{0}].time.starting) == doctest::Approx(2 * 20));
}

TEST_CASE("checkpoints of many jobs at once share the rate of their storage; apart from each other they do not") {
  DataRules rules;
  rules.storages.push_back({.name = "fs", .write = 10e9});
  rules.checkpoint_storage = 0;
  rules.io = {{}, {.checkpoint_bytes = 100e9}};
  CheckpointRules hourly;
  hourly.rule = CheckpointRules::Rule::fixed;
  hourly.interval = wall_seconds(3600);
  const std::vector<SmallJob> at_once(4, {0, 36'000, 8});
  const DataRun burst = run_with(at_once, equal_nodes(4, 8), rules, hourly);
  for (const JobId job : burst.run.outcomes.ids()) {
    // Ten intervals with nine checkpoints between them, of 10 s alone.
    CHECK(seconds(burst.run.outcomes[job].time.writing) == doctest::Approx(9 * 40));
  }
  CHECK(burst.storages[0].written == doctest::Approx(36 * 100e9));
  CHECK(burst.storages[0].busiest_write == doctest::Approx(10e9));
  const DataRun apart = run_with({{0, 36'000, 8}, {600, 36'000, 8}, {1200, 36'000, 8}, {1800, 36'000, 8}},
                                 equal_nodes(4, 8), rules, hourly);
  for (const JobId job : apart.run.outcomes.ids()) {
    CHECK(seconds(apart.run.outcomes[job].time.writing) == doctest::Approx(90));
  }
  // The second begins 4 s after the first: 4 s alone, 12 s together, 4 s alone, and then always so far apart.
  const DataRun overlapping = run_with({{0, 7200, 8}, {4, 7200, 8}}, equal_nodes(2, 8), rules, hourly);
  CHECK(seconds(overlapping.run.outcomes[JobId{0}].time.writing) == doctest::Approx(16));
  CHECK(seconds(overlapping.run.outcomes[JobId{1}].time.writing) == doctest::Approx(16));
}
