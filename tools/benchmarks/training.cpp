// How fast steps of training are simulated, with reading their scenario, and a sweep of a thousand points.

#include "models/experiments/training.hpp"

#include <filesystem>

#include <benchmark/benchmark.h>
#include <fmt/core.h>
#include <unistd.h>

#include "models/experiments/scenario/scenario.hpp"
#include "sim/error.hpp"
#include "tools/benchmarks/memory.hpp"
#include "tools/cli/data_directory.hpp"
#include "tools/cli/run_command_line.hpp"

namespace athanor {
namespace {

/// One case of scenarios/training/FILE.json.
void step(benchmark::State& state, const std::string& file, const std::string& name) {
  ScenarioChanges changes;
  changes.cases = {name};
  const Library library(data_directory());
  for (auto _ : state) {
    const PeakMemory peak;
    Problems problems;
    const Scenario scenario =
        read_scenario(fmt::format("{}/training/{}.json", library.directory(), file), library, changes, problems);
    problems.throw_if_any();
    const Case& one = scenario.cases.front();
    const auto& experiment = *one.as<TrainingExperiment>();
    CollectiveTimer timer(experiment.pricing(one.platform, {}));
    const WorkloadRun run = experiment.simulate(one.platform, timer, {});
    state.counters["step_s"] = seconds(run.time);
    state.counters["events"] = static_cast<double>(run.result.events);
    state.counters["peak_MB"] = peak.megabytes();
  }
}

/// Eight GPUs, 16 sizes, 1,001 points: `algorithm` says how many ways each of them tries.
void sweep(benchmark::State& state, const std::string& algorithm) {
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("athanor-sweep-{}.sqlite", ::getpid())).string();
  const Streams silent{.out = [](std::string_view) {}, .err = [](std::string_view) {}};
  for (auto _ : state) {
    const ExitCode code = run_command_line(
        {"sweep", data_directory() + "/sweeps/eight_gpus.json", "-q", "-o", path, "--overwrite", "--set",
         "/collective/algorithm=" + algorithm, "--vary", "/collective/ranks=2..8+1", "--vary", "/seed=1..143+1"},
        silent);
    if (code != ExitCode::ok) { throw SimulationError("sweep", "a point of the benchmark failed"); }
  }
  state.counters["points"] = 1001;
  std::filesystem::remove(path);
}

}  // namespace

BENCHMARK_CAPTURE(step, gpt3_175b_1024_gpus, "dgx_cloud_h100_bf16", "GPT-3 175B, 96 layers, 1024 GPUs, v24.11.1")
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(step, llama_405b_16384_gpus, "llama3_405b", "16384 GPUs")->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(sweep, ring, "ring")->Unit(benchmark::kSecond)->Iterations(1)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK_CAPTURE(sweep, best, "best")->Unit(benchmark::kSecond)->Iterations(1)->MeasureProcessCPUTime()->UseRealTime();

}  // namespace athanor
