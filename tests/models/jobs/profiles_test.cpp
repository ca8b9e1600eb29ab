#include <random>

#include <doctest/doctest.h>

#include "models/jobs/profiles/profile_format.hpp"
#include "models/jobs/profiles/profile_speed.hpp"
#include "sim/file.hpp"
#include "small_jobs.hpp"

using namespace athanor;

namespace {

/// An application of two epochs of 100 iterations of its smallest batch, 10, whose gradients scatter so much that twice
/// the batch is worth twice as much; a step takes a second on one node and two on several.
ApplicationProfile plain_profile() {
  ApplicationProfile profile;
  profile.name = "plain";
  for (const double batch : {1.0, 100.0}) {
    profile.steps.add_placement({1}, batch, {1, 0});
    profile.steps.add_placement({2}, batch, {1, 0});
    profile.steps.add_placement({1, 1}, batch, {2, 1});
    profile.steps.add_placement({1, 2}, batch, {2, 1});
    profile.steps.add_placement({2, 2}, batch, {2, 1});
  }
  profile.most_local_batch = 100;
  const std::vector<EpochEnd> epochs{{100, {0, 1}}, {200, {0, 1}}};
  profile.convergence.add(10, epochs);
  profile.convergence.add(100, epochs);
  return profile;
}

JobList jobs_of(const std::vector<std::uint32_t>& gpus, std::uint32_t batch) {
  JobList list;
  for (const std::uint32_t each : gpus) {
    Job job;
    job.shape = list.shape({{each, {.gpus = 1}}});
    job.application = list.name("plain");
    job.batch = batch;
    list.jobs.push_back(job);
  }
  return list;
}

JobsRun run_of(JobList& jobs, const ProfileSet& profiles, const NodeList& nodes, const JobsRules& rules = {}) {
  REQUIRE(set_durations(jobs, profiles, nodes).empty());
  const auto placement = placement_of("most_free", jobs, nodes);
  const auto scheduler = scheduler_of("fifo", jobs, nodes);
  ProfileSpeed speeds(profiles, jobs, nodes);
  return simulate_jobs(jobs, nodes, *placement, *scheduler, speeds, rules);
}

}  // namespace

TEST_CASE("where a ring of nodes begins is of no account") {
  for (const GpuCounts& counts : {GpuCounts{1, 1, 3, 2}, {1, 3, 2, 1}, {3, 2, 1, 1}, {2, 1, 1, 3}}) {
    CHECK(turned(counts) == GpuCounts{1, 1, 3, 2});
  }
  CHECK(turned({3, 1, 2}) != turned({2, 1, 3}));
  CHECK(packed(10, 4) == GpuCounts{2, 4, 4});
  CHECK(packed(8, 4) == GpuCounts{4, 4});
}

TEST_CASE("step times that are linear in nodes, GPUs and local batch are found wherever they were not measured") {
  const auto law = [](double nodes, double gpus, double batch) { return 1 + 0.5 * nodes + 0.1 * gpus + 0.01 * batch; };
  StepProfile profile;
  for (const std::uint32_t nodes : {1U, 4U, 6U, 16U}) {
    for (std::uint32_t gpus = nodes; gpus <= 4 * nodes; gpus += 3 * nodes / 2 > 1 ? nodes / 2 + 1 : 1) {
      for (const double batch : {8.0, 20.0, 50.0}) {
        profile.add_size(nodes, gpus, batch, {law(nodes, gpus, batch), 0.1 * nodes});
      }
    }
    for (const double batch : {8.0, 50.0}) {
      profile.add_size(nodes, 4 * nodes, batch, {law(nodes, 4 * nodes, batch), 0.1 * nodes});
    }
  }
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    GpuCounts counts(1 + random() % 16);
    double gpus = 0;
    for (std::uint32_t& count : counts) { gpus += count = 1 + static_cast<std::uint32_t>(random() % 4); }
    const double batch = 8 + static_cast<double>(random() % 43);
    const StepTime found = profile.at(turned(counts), batch);
    CAPTURE(counts.size());
    CAPTURE(gpus);
    REQUIRE(found.step == doctest::Approx(law(static_cast<double>(counts.size()), gpus, batch)));
    REQUIRE(found.sync == doctest::Approx(0.1 * static_cast<double>(counts.size())));
  }
  CHECK(profile.at(GpuCounts(20, 2), 8).step == doctest::Approx(law(16, 40, 8)));  // as on the most nodes measured
}

TEST_CASE("an iteration is worth the more the more gradients scatter, between nothing and the multiple of its batch") {
  Convergence convergence;
  convergence.add(10, {{5, {1, 0}}, {10, {0, 1}}, {15, {1, 3}}});
  convergence.add(100, {{4, {1, 0}}, {12, {0, 1}}, {16, {1, 3}}});
  CHECK(convergence.gain(0, 80) == doctest::Approx(1));
  CHECK(convergence.gain(1, 80) == doctest::Approx(8));
  CHECK(convergence.gain(2, 80) == doctest::Approx(4 / (3.0 / 8 + 1)));
  for (std::size_t epoch = 0; epoch < 3; ++epoch) { CHECK(convergence.gain(epoch, 10) == doctest::Approx(1)); }
  CHECK(convergence.progress(0) == 4);  // the least of both batches
  CHECK(convergence.progress(1) == 6);
}

TEST_CASE("a batch is cut into the fewest parts that fit, and none is lost but beyond the largest batch") {
  ApplicationProfile profile = plain_profile();
  profile.most_local_batch = 16;
  for (std::uint32_t gpus = 1; gpus <= 12; ++gpus) {
    for (std::uint32_t batch = 10; batch <= 100; ++batch) {
      CAPTURE(gpus);
      CAPTURE(batch);
      const BatchSplit split = split_of(batch, gpus, profile);
      const std::uint32_t least = gpus == 1 && batch > 10 ? 1 : 0;
      REQUIRE(split.local <= 16);
      REQUIRE(split.batch(gpus) <= 100);
      REQUIRE(split.batch(gpus) + 2 * gpus * (split.accumulated + 1) > batch);
      REQUIRE((split.accumulated == least || split.accumulated * 16 * gpus < batch));
    }
  }
}

TEST_CASE("a job takes what its profile says of where it is") {
  ProfileSet profiles;
  profiles.applications.push_back(plain_profile());
  JobList together = jobs_of({2}, 20);
  CHECK(run_of(together, profiles, equal_nodes(1, 2)).outcomes[JobId{0}].ended == wall_seconds(100));
  JobList apart = jobs_of({1, 2, 1}, 20);
  const JobsRun run = run_of(apart, profiles, equal_nodes(2, 2));
  CHECK(run.outcomes[JobId{1}].ended == wall_seconds(100));  // wholly free is the second node
  CHECK(run.outcomes[JobId{2}].ended == wall_seconds(200));  // one GPU works twice on half of the batch
  JobList large = jobs_of({3}, 20);
  CHECK(run_of(large, profiles, equal_nodes(2, 2)).outcomes[JobId{0}].ended.count() ==
        doctest::Approx(200e6 * 20 / 21));
}

TEST_CASE("a job on several nodes loses its share of speed to another one that does as long as that runs") {
  ProfileSet profiles;
  profiles.applications.push_back(plain_profile());
  profiles.interference = 0.25;
  JobList jobs = jobs_of({3, 3, 1}, 30);
  const JobsRun run = run_of(jobs, profiles, equal_nodes(4, 2));
  for (const std::uint32_t job : {0U, 1U}) {
    CHECK(run.outcomes[JobId{job}].ended.count() == doctest::Approx(400e6 / 3));
  }
  JobList crossed = jobs_of({3, 3}, 30);
  crossed.jobs[JobId{1}].submitted = wall_seconds(10);
  const JobsRun both = run_of(crossed, profiles, equal_nodes(3, 2));
  const double alone = 400.0 / 3;
  const double first = 10 + (alone - 10) / 0.75;
  CHECK(seconds(both.outcomes[JobId{0}].ended) == doctest::Approx(first));
  CHECK(seconds(both.outcomes[JobId{1}].ended) == doctest::Approx(first + alone - (first - 10) * 0.75));
}

TEST_CASE("jobs that stop each other altogether both stand still") {
  ProfileSet profiles;
  profiles.applications.push_back(plain_profile());
  profiles.interference = 1;
  JobsRules rules;
  rules.horizon = wall_seconds(1000);
  for (const bool whole : {false, true}) {
    profiles.whole_seconds = whole;
    JobList jobs = jobs_of({3, 3}, 30);
    const JobsRun run = run_of(jobs, profiles, equal_nodes(3, 2), rules);
    for (const std::uint32_t job : {0U, 1U}) { CHECK(run.outcomes[JobId{job}].state == JobState::running); }
  }
}

TEST_CASE("the first start costs its overhead, and epochs may take whole seconds") {
  ProfileSet profiles;
  profiles.applications.push_back(plain_profile());
  JobsRules rules;
  rules.start_overhead = wall_seconds(30);
  JobList jobs = jobs_of({2}, 30);
  CHECK(seconds(run_of(jobs, profiles, equal_nodes(1, 2), rules).outcomes[JobId{0}].ended) ==
        doctest::Approx(30 + 200.0 / 3));
  profiles.whole_seconds = true;
  CHECK(run_of(jobs, profiles, equal_nodes(1, 2), rules).outcomes[JobId{0}].ended == wall_seconds(30 + 33 + 33));
}

TEST_CASE("BERT's step times are those that Pollux's authors measured, whichever node comes first") {
  const ApplicationProfile bert = profile_formats().front().read("scenarios/jobs/profiles/pollux/bert", FileReader());
  const std::pair<GpuCounts, double> rows[] = {{{2}, 0.919},       {{1, 1}, 1.481},       {{4}, 0.957},
                                               {{2, 2}, 2.116},    {{3, 1}, 2.067},       {{1, 3}, 2.067},
                                               {{2, 1, 1}, 1.409}, {{1, 1, 1, 1}, 1.471}, {{4, 4}, 2.539}};
  for (const auto& [counts, step] : rows) {
    CHECK(bert.steps.at(turned(counts), 12).step == doctest::Approx(step).epsilon(0.001));
  }
  CHECK(bert.convergence.epochs() == 2);
  CHECK(bert.convergence.most_batch() == 384);
  CHECK(bert.steps.most_gpus() == 64);
}
