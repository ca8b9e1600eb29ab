// How fast jobs are scheduled: Philly's, one copy of its selection behind the other, at a load of nine tenths on 552
// nodes of 8 GPUs; and a month of failures of one job on 16,384 GPUs.

#include <algorithm>
#include <cmath>
#include <string>

#include <benchmark/benchmark.h>

#include "models/jobs/logs/log_format.hpp"
#include "models/jobs/placement/placement.hpp"
#include "models/jobs/schedulers/scheduler.hpp"
#include "models/jobs/simulate_jobs.hpp"
#include "models/jobs/summary.hpp"
#include "sim/check.hpp"
#include "sim/file.hpp"
#include "tools/benchmarks/memory.hpp"

namespace athanor {
namespace {

constexpr std::uint32_t kNodes = 552;
constexpr std::uint16_t kGpusOfANode = 8;
constexpr double kLoad = 0.9;

template <class Entry>
const Entry& entry_of(const std::vector<Entry>& catalog, std::string_view name) {
  const auto at = std::find_if(catalog.begin(), catalog.end(), [&](const Entry& entry) { return entry.name == name; });
  require(at != catalog.end(), "the catalog has no {}", name);
  return *at;
}

NodeList equal_nodes(std::uint32_t nodes) {
  NodeList list;
  list.gpu_types = {"GPU"};
  for (std::uint32_t node = 0; node < nodes; ++node) { list.nodes.push_back({.gpus = kGpusOfANode}); }
  return list;
}

/// The first so many jobs of copies of the log, closer together so that they need so much of all GPUs.
JobList philly(std::size_t count) {
  JobLog log({});
  entry_of(log_formats(), "sia").make()->read("scenarios/jobs/logs/philly_sia_subset.csv.gz", FileReader(), log);
  log.finish();
  JobList list = log.take();
  const std::size_t in_log = list.size();
  const WallTime span = list.jobs.back().submitted + WallTime{1};
  double gpu_seconds = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Job job = list.jobs[JobId{static_cast<std::uint32_t>(i % in_log)}];
    if (i >= in_log) {
      job.submitted += span * static_cast<std::int64_t>(i / in_log);
      list.jobs.push_back(job);
    }
    gpu_seconds += static_cast<double>(gpu_milli_of(list.shape(job.shape))) / Inventory::kWhole * seconds(job.duration);
  }
  list.jobs.resize(count);
  const double needed = gpu_seconds / (kLoad * kNodes * kGpusOfANode);
  const double closer = needed / seconds(list.jobs.back().submitted);
  for (Job& job : list.jobs) {
    job.submitted = WallTime{std::llround(static_cast<double>(job.submitted.count()) * closer)};
  }
  return list;
}

void jobs_of_philly(benchmark::State& state, std::string_view scheduler) {
  for (auto _ : state) {
    const PeakMemory peak;
    const JobList jobs = philly(static_cast<std::size_t>(state.range(0)));
    const NodeList nodes = equal_nodes(kNodes);
    const auto placement = entry_of(placements(), "best_fit").make()->make(nodes, jobs, 1);
    const auto decides = entry_of(schedulers(), scheduler).make()->make(jobs, nodes);
    FullSpeed speeds;
    const JobsRun run = simulate_jobs(jobs, nodes, *placement, *decides, speeds, {});
    const JobsSummary summary = summary_of(run, jobs, nodes);
    state.counters["queue"] = summary.queue_length;
    state.counters["used"] = summary.utilisation;
    state.counters["peak_MB"] = peak.megabytes();
  }
}
BENCHMARK_CAPTURE(jobs_of_philly, fifo_easy, "fifo")->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(jobs_of_philly, sjf_easy, "sjf")->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(jobs_of_philly, srtf, "srtf")->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(jobs_of_philly, volcano, "volcano")->Arg(100'000)->Unit(benchmark::kMillisecond);

void failures_of_a_large_job(benchmark::State& state) {
  using What = FailureSource::What;
  constexpr std::int64_t kDay = 86'400'000'000;
  constexpr std::uint32_t kJobNodes = 2048;
  const NodeList nodes = equal_nodes(kJobNodes + 32);
  JobList jobs;
  Job job;
  job.shape = jobs.shape({{kJobNodes, {.gpus = kGpusOfANode}}});
  job.duration = job.expected = WallTime{kDay * 365};
  jobs.jobs.push_back(job);
  JobsRules rules;
  rules.horizon = WallTime{kDay * 54};
  rules.restart_overhead = WallTime{300'000'000};
  rules.checkpoints = {CheckpointRules::Rule::optimal, {}, WallTime{10'000'000}, {}};
  rules.failures.sources = {
      {"node", What::node, "", {WallTime{kDay * 264}, RandomSpan::Law::exponential, 1}, {WallTime{kDay}}}};
  rules.failures.spares = 32;
  for (auto _ : state) {
    ++rules.seed;
    const auto placement = entry_of(placements(), "best_fit").make()->make(nodes, jobs, rules.seed);
    const auto decides = entry_of(schedulers(), "fifo").make()->make(jobs, nodes);
    FullSpeed speeds;
    const JobsRun run = simulate_jobs(jobs, nodes, *placement, *decides, speeds, rules);
    state.counters["interruptions"] = run.outcomes[JobId{0}].interruptions;
  }
}
BENCHMARK(failures_of_a_large_job)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace athanor
