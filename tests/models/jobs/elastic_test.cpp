#include <algorithm>
#include <numeric>
#include <random>

#include <doctest/doctest.h>

#include "models/jobs/profiles/batch_choices.hpp"
#include "models/jobs/schedulers/pollux_search.hpp"
#include "small_jobs.hpp"

using namespace athanor;

namespace {

using Solution = PolluxSearch::Solution;

/// All rows of a job on two nodes of two GPUs.
std::vector<GpuRow> all_rows() {
  std::vector<GpuRow> rows;
  for (std::uint16_t a = 0; a <= 2; ++a) {
    for (std::uint16_t b = 0; b <= 2; ++b) { rows.push_back({a, b}); }
  }
  return rows;
}

bool spans(const GpuRow& row) { return row[0] > 0 && row[1] > 0; }

bool is_allowed(const Solution& solution, const std::vector<PolluxJob>& jobs) {
  std::uint32_t on[2] = {0, 0};
  int spanning = 0;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    const std::uint32_t gpus = std::accumulate(solution[job].begin(), solution[job].end(), 0U);
    if (gpus > jobs[job].most_gpus || (gpus > 0 && gpus < jobs[job].least_gpus)) { return false; }
    spanning += spans(solution[job]) ? 1 : 0;
    for (std::size_t node = 0; node < 2; ++node) { on[node] += solution[job][node]; }
  }
  return on[0] <= 2 && on[1] <= 2 && spanning <= 1;
}

/// Three jobs with drawn speeds that rise with GPUs, and fall where they are on two nodes.
struct DrawnJobs {
  std::vector<PolluxJob> jobs;
  double speeds[3][3][5];

  explicit DrawnJobs(std::mt19937_64& random) {
    for (auto& job : speeds) {
      const double apart = 0.5 + 0.5 * static_cast<double>(random() % 100) / 100;
      double speed = 0;
      for (std::size_t gpus = 1; gpus <= 4; ++gpus) {
        speed += static_cast<double>(1 + random() % 100) / 100;
        job[1][gpus] = speed;
        job[2][gpus] = speed * apart;
      }
      jobs.push_back({1 + static_cast<std::uint32_t>(random() % 2), 2 + static_cast<std::uint32_t>(random() % 3),
                      random() % 2 == 0 ? GpuRow{0, 0} : GpuRow{1, 0}, 0.8, 1});
    }
    jobs[1].present = {0, 0};
    jobs[2].present = {0, 2};
  }
  PolluxSearch::SpeedOf speed() const {
    return [this](std::size_t job, std::uint32_t nodes, std::uint32_t gpus) { return speeds[job][nodes][gpus]; };
  }
};

JobList elastic(std::vector<SmallJob> small, std::uint32_t least, std::uint32_t most) {
  JobList list = list_of(small);
  for (Job& job : list.jobs) {
    job.least_gpus = least;
    job.most_gpus = most;
  }
  return list;
}

}  // namespace

TEST_CASE("what Pollux's search finds is the best of all that is allowed") {
  std::mt19937_64 random(7);
  const std::vector<GpuRow> rows = all_rows();
  for (int round = 0; round < 30; ++round) {
    const DrawnJobs drawn(random);
    const PolluxSearch::SpeedOf speed = drawn.speed();
    RandomStream draws(1, "pollux");
    PolluxSearch search({2, 2}, drawn.jobs, speed, {50, 50}, draws);
    double best = 1e9;
    for (const GpuRow& a : rows) {
      for (const GpuRow& b : rows) {
        for (const GpuRow& c : rows) {
          if (is_allowed({a, b, c}, drawn.jobs)) { best = std::min(best, search.cost({a, b, c})); }
        }
      }
    }
    const auto found = search.improve({Solution(3, GpuRow{0, 0})});
    for (const Solution& each : found) { REQUIRE(is_allowed(each, drawn.jobs)); }
    REQUIRE(search.cost(found.front()) == doctest::Approx(best));
  }
}

TEST_CASE("a job alone doubles its GPUs each minute, and works in proportion to them") {
  const JobList jobs = elastic({{0, 600, 8}}, 1, 8);
  JobsRules rules;
  rules.keep_stints = true;
  const JobsRun run = run_of(jobs, equal_nodes(1, 8), "pollux", R"({"move": "0 s"})", "best_fit", rules);
  std::vector<std::uint32_t> gpus;
  for (const JobStint& stint : run.stints) { gpus.push_back(stint.where.front().gpus.count()); }
  CHECK(gpus == std::vector<std::uint32_t>{1, 2, 4, 8});
  // In three minutes it has done (1 + 2 + 4) / 8 of a minute's work, and the rest takes as long as it says.
  CHECK(run.outcomes[JobId{0}].ended == wall_seconds(180) + wall_seconds(600) - WallTime{52'500'000});
  CHECK(run.usage.sums().gpus == doctest::Approx(600 * 8));
}

TEST_CASE("equal elastic jobs share a cluster equally, and one that is left alone gets all of it") {
  const JobList jobs = elastic({{0, 3600, 4}, {0, 7200, 4}}, 1, 8);
  JobsRules rules;
  rules.keep_stints = true;
  const JobsRun run = run_of(jobs, equal_nodes(2, 4), "pollux", "{}", "best_fit", rules);
  const auto most_of = [&](std::uint32_t job, WallTime from, WallTime to) {
    std::uint32_t most = 0;
    for (const JobStint& stint : run.stints) {
      if (stint.job.value != job || stint.until <= from || stint.since >= to) { continue; }
      std::uint32_t gpus = 0;
      for (const NodeShare& share : stint.where) { gpus += share.gpus.count(); }
      most = std::max(most, gpus);
    }
    return most;
  };
  const WallTime first = run.outcomes[JobId{0}].ended;
  for (const std::uint32_t job : {0U, 1U}) { CHECK(most_of(job, {}, first) == 4); }
  CHECK(most_of(1, first + wall_seconds(60), WallTime::max()) == 8);
  const double late = (1 + 2) / 4.0 * 60 - 120;  // work of the first two minutes, less than full speed's
  CHECK(seconds(first) == doctest::Approx(3600 - late));
}

TEST_CASE("an elastic job runs on its GPUs for its duration where the scheduler gives no others") {
  const JobList jobs = elastic({{0, 600, 4}}, 1, 8);
  CHECK(run_of(jobs, equal_nodes(1, 8), "fifo").outcomes[JobId{0}].ended == wall_seconds(600));
}

TEST_CASE("Pollux is for elastic jobs of GPUs of any type") {
  const auto& all = schedulers();
  const auto pollux = std::find_if(all.begin(), all.end(), [](const auto& each) { return each.name == "pollux"; });
  CHECK(pollux->make()->refusal(list_of({{0, 1, 1}}), equal_nodes(4, 4)).code == "not-elastic");
  CHECK(pollux->make()->refusal(elastic({{0, 1, 1}}, 1, 2), equal_nodes(4, 4)).message.empty());
  JobList typed = elastic({{0, 1, 1}}, 1, 2);
  typed.jobs[JobId{0}].shape = typed.shape({{1, {.gpus = 1, .gpu_types = typed.gpu_types({"H100"})}}});
  CHECK(pollux->make()->refusal(typed, equal_nodes(4, 4)).code == "no-effect");
}

TEST_CASE(
    "the best batch is at least as good as any that could be fixed, but for the steps in which it is looked for") {
  ApplicationProfile profile;
  profile.least_local_batch = 8;
  profile.most_local_batch = 64;
  for (const std::uint32_t batch : {32U, 128U, 1024U}) {
    profile.convergence.add(batch, {{100, {1, 1}}, {200, {1, 10}}, {300, {1, 100}}});
  }
  const auto time = [](double local) { return StepTime{0.1 + 0.01 * local, 0.05}; };
  double before = 0;
  for (std::size_t epoch = 0; epoch < 3; ++epoch) {
    const BatchRate best = BatchChoices(profile, 4, time).best(epoch);
    for (std::uint32_t batch = 32; batch <= 1024; ++batch) {
      const BatchSplit split = split_of(batch, 4, profile);
      const StepTime step = time(split.local);
      const double seconds = step.step + split.accumulated * (step.step - step.sync);
      REQUIRE(best.rate > 0.98 * profile.convergence.gain(epoch, split.batch(4)) / seconds);
    }
    CHECK(best.split.batch(4) >= before);  // noisier gradients call for larger batches
    before = best.split.batch(4);
  }
  CHECK(BatchChoices(profile, 200, time).best(0).rate == 0);  // 8 of each GPU are more than the largest batch
}
