// How fast NCCL's runs are: reading a case (which searches channels), its choice of one call, a sweep, an explanation.

#include <algorithm>

#include <benchmark/benchmark.h>

#include "models/execution/run.hpp"
#include "models/experiments/collective.hpp"
#include "models/experiments/scenario/scenario.hpp"
#include "models/nccl/execution/runtime.hpp"
#include "models/nccl/tuning/choice.hpp"
#include "sim/error.hpp"
#include "tools/benchmarks/memory.hpp"
#include "tools/cli/data_directory.hpp"
#include "tools/explain/explain_case.hpp"

namespace athanor {

namespace {

using namespace literals;

/// scenarios/nccl_sweep.json with one of its cases.
Scenario sweep_of(const std::string& name, const std::vector<std::string>& settings = {}) {
  ScenarioChanges changes;
  changes.settings = settings;
  changes.cases = {name};
  Problems problems;
  const Library library(data_directory());
  Scenario scenario = read_scenario(library.directory() + "/nccl_sweep.json", library, changes, problems);
  problems.throw_if_any();
  return scenario;
}

std::string nodes_of(const benchmark::State& state) { return std::to_string(state.range(0)) + " nodes"; }

void read_case_of_nccl(benchmark::State& state) {
  for (auto iteration : state) {
    static_cast<void>(iteration);
    benchmark::DoNotOptimize(sweep_of(nodes_of(state)));
  }
}

/// All-reduce at 32 sizes from 8 B to 16 GiB, read and simulated.
void sweep(benchmark::State& state) {
  const PeakMemory memory;
  Time longest;
  for (auto iteration : state) {
    static_cast<void>(iteration);
    const Scenario scenario = sweep_of(nodes_of(state));
    const Case& one = scenario.cases.front();
    const CollectiveSetup& setup = one.as<CollectiveExperiment>()->setup();
    for (const Bytes size : setup.sizes) {
      longest = std::max(longest, run_collective(setup.request(one.platform, size, {})).time);
    }
  }
  state.counters["simulated_s"] = seconds(longest);
  state.counters["peak_MB"] = memory.megabytes();
}

/// All-reduce at three sizes by ECMP, by which hardly two nodes have like neighbours.
void by_ecmp(benchmark::State& state) {
  const PeakMemory memory;
  const Scenario scenario = sweep_of(nodes_of(state), {"/network/routing=ecmp"});
  const Case& one = scenario.cases.front();
  const CollectiveSetup& setup = one.as<CollectiveExperiment>()->setup();
  Time sum;
  for (auto iteration : state) {
    static_cast<void>(iteration);
    for (const Bytes size : {1_MiB, 64_MiB, 1_GiB}) {
      sum += run_collective(setup.request(one.platform, size, {})).time;
    }
  }
  state.counters["simulated_s"] = seconds(sum) / static_cast<double>(state.iterations());
  state.counters["peak_MB"] = memory.megabytes();
}

/// Every candidate of one size beside NCCL's predictions, channels and phases.
void explanation(benchmark::State& state) {
  const Scenario scenario = sweep_of(nodes_of(state));
  for (auto iteration : state) {
    static_cast<void>(iteration);
    benchmark::DoNotOptimize(explain(scenario, scenario.cases.front(), 64_MiB, {}));
  }
}

/// The tuning model alone.
void choice_of_nccl(benchmark::State& state) {
  const Scenario scenario = sweep_of(nodes_of(state));
  const auto* collective = scenario.cases.front().as<CollectiveExperiment>();
  const NcclCommunicator& communicator = collective->setup().nccl->communicator();
  const NcclCall call{.function = NcclFunction::all_reduce, .bytes = 64_MiB};
  for (auto iteration : state) {
    static_cast<void>(iteration);
    benchmark::DoNotOptimize(nccl_choose(communicator, call));
  }
}

}  // namespace

BENCHMARK(read_case_of_nccl)->Name("nccl_read")->Arg(2)->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK(choice_of_nccl)->Name("nccl_choice")->Arg(2)->Arg(128)->Unit(benchmark::kMicrosecond);
BENCHMARK(sweep)->Name("nccl_sweep")->Arg(2)->Arg(128)->Unit(benchmark::kSecond);
BENCHMARK(by_ecmp)->Name("nccl_ecmp")->Arg(128)->Unit(benchmark::kSecond);
BENCHMARK(explanation)->Name("nccl_explain")->Arg(2)->Arg(128)->Unit(benchmark::kSecond);

}  // namespace athanor
