#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "algorithms/proof/prove.hpp"
#include "models/execution/choice.hpp"
#include "models/experiments/collective.hpp"
#include "models/synthesis/fabric_graph.hpp"
#include "models/synthesis/synthesis_cache.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "sim/output_file.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/scenarios.hpp"
#include "tools/synthesise/report.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

struct SynthesiseOptions {
  CommonOptions common;
  ScenarioOptions scenario;
  std::optional<Bytes> size;
  std::optional<std::string> output;
  bool no_simulation = false;
};

void visit(OptionFields& fields, SynthesiseOptions& options) {
  fields.size("size", "SIZE", options.size, "of the payload that is simulated; without it the largest of the case");
  fields.texts("case", "NAME", options.scenario.cases, "this case; needed where there are several");
  fields.texts("set", "/POINTER=VALUE", options.scenario.settings, "changes the scenario first; repeatable");
  fields.text("seed", "N", options.scenario.seed, "of routing, instead of the scenario's");
  fields.flag("no-simulation", options.no_simulation,
              "neither the algorithm nor those of the catalog are simulated: it is made, proven and written");
  fields.written_file("output,o", options.output, "the algorithm in MSCCL's XML; absent: it is not written");
}

const CollectiveExperiment& the_collective(const Scenario& scenario) {
  if (scenario.cases.size() > 1) {
    throw UsageError(
        fmt::format("synthesise: {} has {} cases; choose one with --case NAME", scenario.path, scenario.cases.size()));
  }
  const auto* experiment = scenario.cases.front().as<CollectiveExperiment>();
  if (experiment == nullptr) {
    throw UsageError(
        fmt::format("synthesise is for one collective, and this is {}; write \"collective\": {{\"kind\": "
                    "\"all_gather\", \"sizes\": \"1GiB\"}}",
                    scenario.cases.front().experiment->subject()));
  }
  return *experiment;
}

/// Of one chunk for each unit. Throws ScenarioError for a schedule that is wrong, which would be a fault of ours.
void prove_it(const ClusterSynthesis& made, std::uint32_t ranks, bool in_place) {
  const Elements chunks{ranks * made.synthesis->units};
  const Collective collective{made.synthesis->kind, ranks, chunks, 0, in_place};
  const auto violation = prove(*made.algorithm->make(collective, {}), collective, {.equal_counts = true});
  require(!violation, "a synthesised schedule is wrong: {}", violation ? explain({ranks, ranks}, *violation) : "");
}

ContenderTime simulate(const RunRequest& request, const Algorithm& algorithm) {
  RunRequest alone = request;
  alone.algorithms = {&algorithm};
  ContenderTime result{algorithm.name, {}, ""};
  try {
    result.time = choose_fastest(alone).result.time;
  } catch (const SimulationError& error) { result.obstacle = error.what(); }
  return result;
}

std::vector<ContenderTime> contenders(const RunRequest& request) {
  std::vector<ContenderTime> all;
  for (const Algorithm& algorithm : catalog()) {
    if (algorithm.kind != request.collective.kind) { continue; }
    const std::optional<std::string> reason = why_not(request, algorithm);
    all.push_back(reason ? ContenderTime{algorithm.name, {}, *reason} : simulate(request, algorithm));
  }
  std::stable_sort(all.begin(), all.end(), [](const ContenderTime& a, const ContenderTime& b) {
    return a.time.value_or(Time::max()) < b.time.value_or(Time::max());
  });
  return all;
}

/// Of `part` bytes in each unit of capacity, which is a byte per second.
Time time_of(Ratio ratio, Bytes part) {
  constexpr std::int64_t kPicoseconds = 1'000'000'000'000;
  const Ratio seconds = product(ratio, {part.count(), 1});
  return Time{static_cast<std::int64_t>(Wide{seconds.numerator} * kPicoseconds / seconds.denominator)};
}

std::string names_of(const std::vector<std::uint32_t>& ranks) {
  constexpr std::size_t kNamed = 4;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size() && i < kNamed; ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", ranks[i]);
  }
  return ranks.size() > kNamed ? fmt::format("{} ranks ({} ...)", ranks.size(), text.substr(6)) : text;
}

std::string cut_of(const Synthesis& synthesis, std::uint32_t ranks) {
  if (synthesis.behind_cut.empty()) { return "what all links together carry, or the narrowest cut"; }
  const std::size_t others = ranks - synthesis.behind_cut.size();
  const char* const way = synthesis.kind == CollectiveKind::reduce_scatter
                              ? "what goes to {} other ranks leaves {} by the narrowest cut"
                              : "the data of {} other ranks enter {} by the narrowest cut";
  const std::string text = fmt::format(fmt::runtime(way), others, names_of(synthesis.behind_cut));
  return synthesis.kind == CollectiveKind::all_reduce ? "reduced, then gathered, where " + text : text;
}

MscclSummary write(const std::string& path, const ClusterSynthesis& made, const Collective& like) {
  OutputFile file(path);
  Collective collective = like;
  collective.count = Elements{collective.ranks * made.synthesis->units};
  const std::string name = fmt::format("{}_{}_{}", athanor::name(collective.kind), kSynthesised, collective.ranks);
  const MscclSummary summary = export_msccl(*made.algorithm->make(collective, {}), collective, name,
                                            [&](std::string_view text) { file.write(text); });
  file.finish();
  return summary;
}

SynthesisReport report_of(const SynthesiseOptions& options, const Case& the_case, const CollectiveSetup& setup,
                          const ClusterSynthesis& made) {
  const Cluster& cluster = *the_case.platform.cluster;
  const CapacityGraph graph = simplified(fabric_graph(cluster, setup.ranks).graph);
  const Bytes size = options.size.value_or(setup.sizes.back());
  const Synthesis& synthesis = *made.synthesis;
  const Bytes part{size.count() / setup.ranks};
  SynthesisReport report{.scenario_case = the_case.name,
                         .cluster = cluster.description,
                         .collective = std::string(name(setup.kind)),
                         .payload = to_string(size),
                         .ranks = setup.ranks,
                         .switches = graph.vertices - graph.ranks,
                         .links = graph.links.size(),
                         .bound = time_of(synthesis.bound, part),
                         .bound_by = cut_of(synthesis, setup.ranks),
                         .reached = time_of(synthesis.time, part),
                         .method = synthesis.method,
                         .units = synthesis.units,
                         .messages = synthesis.out_of_place->targets.size(),
                         .lanes = synthesis.out_of_place->lanes.size(),
                         .in_place = synthesis.in_place != nullptr};
  report.messages = 0;
  for (const TableStep& step : synthesis.out_of_place->steps) { report.messages += step.sends.count; }
  const RunRequest request =
      setup.request(the_case.platform, size, simulation_options(the_case.platform, run_options_of(options.scenario)));
  if (options.no_simulation) { return report; }
  report.simulated = simulate(request, *made.algorithm);
  report.contenders = contenders(request);
  return report;
}

/// With --verbose it says how long that took.
ClusterSynthesis make_and_prove(const SynthesiseOptions& options, const Cluster& cluster, const CollectiveSetup& setup,
                                const Streams& streams) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
  };
  const Clock::time_point begin = Clock::now();
  ClusterSynthesis made = synthesise_for(cluster, setup.kind, setup.ranks);
  if (!made.synthesis) { throw UsageError("synthesise: nothing can be synthesised here: " + made.refusal); }
  const double making = seconds_since(begin);
  prove_it(made, setup.ranks, false);
  if (made.synthesis->in_place) { prove_it(made, setup.ranks, true); }
  if (options.common.verbose) {
    tell(streams, fmt::format("made in {:.2f} s, made and proven in {:.2f} s", making, seconds_since(begin)));
  }
  return made;
}

ExitCode synthesise_collective(const SynthesiseOptions& options, const Streams& streams) {
  check_writable(options.output);
  const std::vector<Scenario> scenarios = read_scenarios(options.common, options.scenario);
  const CollectiveSetup& setup = the_collective(scenarios.front()).setup();
  const Case& the_case = scenarios.front().cases.front();
  const ClusterSynthesis made = make_and_prove(options, *the_case.platform.cluster, setup, streams);
  SynthesisReport report = report_of(options, the_case, setup, made);
  if (options.output) {
    report.file = options.output;
    report.written = write(*options.output, made, {setup.kind, setup.ranks, Elements::zero(), 0, setup.in_place});
  }
  if (options.common.json) { write_json(options.common, streams, text_of(to_json(report), 2)); }
  if (options.common.json != "") { streams.out(to_text(report)); }
  return ExitCode::ok;
}

}  // namespace

Command synthesise_command() {
  return {
      .name = "synthesise",
      .summary = "makes a collective algorithm for a given fabric, proves and simulates it",
      .arguments = "SCENARIO",
      .explanation =
          "All-gather, reduce-scatter, all-reduce and all-to-all for the links of a case's cluster: the least time "
          "that\n"
          "its cuts allow (ForestColl), trees or routes that come close to it, their proof, and their simulated time\n"
          "beside that of every algorithm of the catalog. The file is MSCCL's XML, which `athanor measure "
          "--algorithm`\n"
          "carries out on threads, over MPI and on GPUs, and scenarios take as {\"msccl\": ...}. In scenarios\n"
          "\"algorithm\": \"synthesised\" is the same.\n",
      .example = "athanor synthesise scenarios/synthesis/two_boxes.json --case \"two A100 boxes\" -o own.xml",
      .least_arguments = 1,
      .most_arguments = 1,
      .prepare = &prepared<SynthesiseOptions, &synthesise_collective>};
}

}  // namespace athanor
