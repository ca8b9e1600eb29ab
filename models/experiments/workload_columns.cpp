#include "models/experiments/workload_columns.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "models/execution/candidate.hpp"
#include "models/experiments/collective.hpp"
#include "models/experiments/interval.hpp"
#include "models/experiments/network_columns.hpp"
#include "models/experiments/scenario/profile_section.hpp"
#include "models/experiments/workload.hpp"
#include "models/software/profile.hpp"
#include "sim/format.hpp"
#include "sim/words.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

constexpr std::size_t kMostCalls = 12;
constexpr std::size_t kMostLabels = 8;

double share_of(Time part, Time whole) { return whole == Time::zero() ? 0 : seconds(part) / seconds(whole); }

std::string call_line(const CallsOfAKind& calls) {
  const auto count = static_cast<double>(calls.count);
  return fmt::format("{:>7} x {} {}: {:.1f} us each, {:.1f} us alone", calls.count, name(calls.use),
                     describe(*calls.estimate), microseconds(calls.time) / count, microseconds(calls.alone) / count);
}

/// Computing by label, averaged over workers, the longest first.
std::vector<std::pair<std::string, double>> computing_by_label(const WorkloadResult& result, Time whole) {
  std::vector<std::pair<std::string, double>> shares;
  for (std::size_t label = 0; label < result.labels.size(); ++label) {
    double sum = 0;
    for (const WorkerTime& worker : result.workers) { sum += share_of(worker.labels[label], whole); }
    if (sum > 0) { shares.emplace_back(result.labels[label], sum / static_cast<double>(result.workers.size())); }
  }
  std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return shares;
}

}  // namespace

std::vector<CallsOfAKind> calls_by_kind(const WorkloadResult& result) {
  std::vector<CallsOfAKind> kinds;
  for (const CallTime& call : result.calls) {
    const CallEstimate& estimate = result.estimates[call.estimate];
    if (call.count == 0 || estimate.algorithm == "none") { continue; }
    const auto same = [&](const CallsOfAKind& each) {
      return each.use == call.use && each.estimate->kind == estimate.kind && each.estimate->size == estimate.size &&
             each.estimate->algorithm == estimate.algorithm && each.estimate->protocol == estimate.protocol;
    };
    auto found = std::find_if(kinds.begin(), kinds.end(), same);
    if (found == kinds.end()) { found = kinds.insert(kinds.end(), {&estimate, call.use, 0, {}, {}}); }
    found->count += call.count;
    found->time += call.time;
    found->alone += estimate.time * static_cast<std::int64_t>(call.count);
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const CallsOfAKind& a, const CallsOfAKind& b) { return a.time > b.time; });
  return kinds;
}

std::string describe(const CallEstimate& estimate) {
  const bool protocol = !estimate.protocol.empty() && estimate.protocol != "none";
  return fmt::format("{} of {}, {}{}{}", name(estimate.kind), to_string(estimate.size), estimate.algorithm,
                     protocol ? " " : "", protocol ? estimate.protocol : "");
}

void remark_calls(const WorkloadResult& result, Record& record) {
  const std::vector<CallsOfAKind> calls = calls_by_kind(result);
  for (std::size_t i = 0; i < std::min(calls.size(), kMostCalls); ++i) {
    record.remarks.push_back(call_line(calls[i]));
  }
  if (calls.size() > kMostCalls) {
    record.remarks.push_back(fmt::format("and {} other kinds of calls", calls.size() - kMostCalls));
  }
}

std::string exposed_text(const WorkloadShares& shares) {
  std::vector<std::string> parts;
  for (std::size_t use = 0; use < kParallelisms; ++use) {
    if (shares.exposed[use] < 5e-5) { continue; }
    parts.push_back(fmt::format("{} {:.2f} %", name(static_cast<Parallelism>(use)), shares.exposed[use] * 100));
  }
  return fmt::format("{}", joined(parts, ", "));
}

std::string computing_text(const WorkloadResult& result, Time whole) {
  std::vector<std::string> parts;
  for (const auto& [label, share] : computing_by_label(result, whole)) {
    if (share < 5e-4 || parts.size() == kMostLabels) { continue; }
    parts.push_back(fmt::format("{} {:.1f} %", label, share * 100));
  }
  return fmt::format("{}", joined(parts, ", "));
}

JsonValue breakdown_json(const WorkloadShares& shares, const char* waiting) {
  JsonValue breakdown = {{"computing", shares.computing}, {waiting, shares.waiting}};
  for (std::size_t use = 0; use < kParallelisms; ++use) {
    breakdown[fmt::format("exposed_{}", name(static_cast<Parallelism>(use)))] = shares.exposed[use];
  }
  return breakdown;
}

namespace {

bool uses_switches(const CallEstimate& estimate) {
  const auto all = catalog();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Algorithm& each) {
    return each.kind == estimate.kind && each.name == estimate.algorithm;
  });
  return found != all.end() && aggregates(*found);
}

}  // namespace

void put_interval_of_calls(const WorkloadRun& run, const Platform& platform, std::uint32_t ranks, Record& record) {
  double weight = 0;
  double low = 0;
  double high = 0;
  std::optional<PredictionError> heaviest;
  for (const CallsOfAKind& each : calls_by_kind(run.result)) {
    const std::optional<PredictionError> error =
        platform.profile->error_of(each.estimate->kind, ranks, each.estimate->size, *platform.cluster);
    const double alone = seconds(each.alone);
    if (!error || alone <= 0) { continue; }
    if (!heaviest) { heaviest = error; }
    weight += alone;
    low += alone * error->low;
    high += alone * error->high;
  }
  if (!heaviest) { return; }
  const double time = seconds(run.time);
  const double exposed = shares_of(run.result, run.time).all_exposed() * time;
  record.put(kStepLow, time - exposed * (1 - low / weight));
  record.put(kStepHigh, time + exposed * (high / weight - 1));
  record.put(kKnown, name(heaviest->knowledge));
  record.put(kShared, heaviest->shared);
  record.put(kInterval, interval_text(record.number(kStepLow) / time, record.number(kStepHigh) / time));
}

void put_skipped_packets(const CollectiveTimer& timer, Record& record) {
  if (timer.packets().skips) { put_skips(timer.packets().simulated, *timer.packets().skips, record); }
}

void add_workload_notes(const WorkloadResult& result, const CollectiveTimer& timer, const Platform& platform,
                        std::vector<std::string>& notes) {
  if (timer.settled().any()) { notes.push_back(settled_text(timer.settled(), platform.network.skip_error)); }
  if (std::string text = leeway_text(platform.network); !text.empty() && !result.estimates.empty()) {
    notes.push_back(std::move(text));
  }
  const auto any = [&](auto is) { return std::any_of(result.estimates.begin(), result.estimates.end(), is); };
  if (any([](const CallEstimate& each) { return each.extrapolated; })) {
    notes.push_back(fmt::format("extrapolated: some collectives are outside what the profile {} was fitted in",
                                platform.profile->name));
  }
  if (platform.aggregation && !any(&uses_switches)) {
    notes.emplace_back(
        "no collective is reduced by the switches of \"aggregation\": the usual algorithms are faster, or groups get "
        "no "
        "engines");
  }
  const bool communicates = any([](const CallEstimate& each) { return each.time > Time::zero(); });
  if (communicates && platform.profile->name == kIdealProfile && platform.cluster->identity) {
    notes.emplace_back(
        "with the profile ideal collectives cost no software: no launch, no protocol; leave \"profile\" out, or take "
        "one that `athanor list profiles` names");
  }
}

namespace {

constexpr Column kEnergy{.key = "energy_j",
                         .unit = "(J)",
                         .shown = {.in_reports = Shown::Report::figure,
                                   .report_head = "energy (J)",
                                   .decimals = 0,
                                   .axis = "Energy of a step (J)"}};  ///< of a step: [all](models.md#energy-and-rent)
constexpr Column kGpuEnergy{"gpu_energy_j"};                          ///< of a step: GPUs
constexpr Column kNodeEnergy{"node_energy_j"};                        ///< of a step: nodes without their GPUs
constexpr Column kSwitchEnergy{"switch_energy_j"};                    ///< of a step: switches
constexpr Column kElectricity{"electricity_usd"};                     ///< of a step
constexpr Column kTokensPerJoule{.key = "tokens_per_j", .role = ColumnRole::rate};  ///< of a step
constexpr Column kCost{
    .key = "cost_usd",
    .shown = {.in_reports = Shown::Report::figure,
              .report_head = "cost ($)",
              .decimals = 4,
              .axis = "Cost of a step ($)"}};  ///< rent of a step, from the cheapest to the dearest offer
constexpr Column kCostPerMillionTokens{"usd_per_million_tokens"};  ///< rent, from the cheapest to the dearest offer
constexpr Column kTrainingDays{"training_days"};          ///< of the whole training, where `costs` say its `tokens`
constexpr Column kTrainingEnergy{"training_energy_kwh"};  ///< of the whole training
constexpr Column kTrainingCost{"training_cost_usd"};      ///< of the whole training

constexpr double kJoulesPerKwh = 3.6e6;
constexpr double kSecondsPerDay = 86400;

double tokens_of(const StepResult& step) { return step.tokens_per_s * seconds(step.time); }

std::string energy_text(double joules) {
  for (const auto& [scale, unit] : {std::pair{1e9, "GJ"}, std::pair{1e6, "MJ"}, std::pair{1e3, "kJ"}}) {
    if (joules >= scale) { return fmt::format("{:.3g} {}", joules / scale, unit); }
  }
  return fmt::format("{:.3g} J", joules);
}

/// An energy as bills say it: "13.6 GWh".
std::string bill_text(double kwh) {
  for (const auto& [scale, unit] : {std::pair{1e6, "GWh"}, std::pair{1e3, "MWh"}}) {
    if (kwh >= scale) { return fmt::format("{:.3g} {}", kwh / scale, unit); }
  }
  return fmt::format("{:.3g} kWh", kwh);
}

/// "12.3" or "12.3 to 31".
std::string range_text(const UsdRange& range, double factor = 1) {
  if (range.least == range.most) { return fmt::format("{:.3g}", range.least * factor); }
  return fmt::format("{:.3g} to {:.3g}", range.least * factor, range.most * factor);
}

std::string energy_line(const StepResult& step, const StepCosts& costs) {
  std::vector<std::string> parts{fmt::format("GPUs {}", energy_text(*costs.gpu_j))};
  if (costs.node_j) { parts.push_back(fmt::format("rest of the nodes {}", energy_text(*costs.node_j))); }
  if (costs.switch_j) { parts.push_back(fmt::format("switches {}", energy_text(*costs.switch_j))); }
  std::string line = fmt::format("energy: {} a step ({})", energy_text(*costs.energy_j), joined(parts, ", "));
  if (tokens_of(step) > 0) { line += fmt::format(", {:.3g} tokens per joule", tokens_of(step) / *costs.energy_j); }
  if (costs.electricity_usd) { line += fmt::format(", {:.3g} USD of electricity", *costs.electricity_usd); }
  return line;
}

/// Of each kind of GPU: "2 to 3 and 1.5".
std::string rents_text(const CostFigures& figures) {
  std::vector<std::string> parts;
  for (const GpuFigures& gpu : figures.gpus) {
    parts.push_back(gpu.usd_per_hour ? range_text(*gpu.usd_per_hour) : "?");
  }
  return fmt::format("{}", joined(parts, " and "));
}

std::string rent_line(const StepResult& step, const StepCosts& costs, const CostFigures& figures) {
  std::string line =
      fmt::format("rent: {} USD a step at {} USD per GPU-hour", range_text(*costs.rent_usd), rents_text(figures));
  if (tokens_of(step) > 0) {
    line += fmt::format(", {} USD per million tokens", range_text(*costs.rent_usd, 1e6 / tokens_of(step)));
  }
  return line;
}

/// How many such steps a whole training is; none where nobody said.
std::optional<double> steps_of(const StepResult& step, const CostFigures& figures) {
  if (!figures.tokens || tokens_of(step) == 0) { return std::nullopt; }
  return *figures.tokens / tokens_of(step);
}

std::string training_line(const StepResult& step, const StepCosts& costs, double steps) {
  std::string line = fmt::format("whole training: {:.3g} days", steps * seconds(step.time) / kSecondsPerDay);
  if (costs.energy_j) { line += ", " + bill_text(steps * *costs.energy_j / kJoulesPerKwh); }
  if (costs.rent_usd) { line += fmt::format(", {} million USD of rent", range_text(*costs.rent_usd, steps * 1e-6)); }
  return line;
}

JsonValue range_json(const UsdRange& range, double factor) {
  return std::vector<double>{range.least * factor, range.most * factor};
}

}  // namespace

MachineCount machine_of(const Cluster& cluster, std::uint32_t ranks) {
  MachineCount count{.nodes = nodes_of(cluster, ranks), .switches = 0};
  for (VertexId vertex{0}; vertex.value < cluster.fabric->vertices(); ++vertex.value) {
    const VertexKind kind = cluster.fabric->vertex(vertex).kind;
    const bool of_network = kind == VertexKind::leaf || kind == VertexKind::spine || kind == VertexKind::core;
    if (of_network) { ++count.switches; }
  }
  return count;
}

void remark_step_costs(const StepResult& step, const StepCosts& costs, const CostFigures& figures, Record& record) {
  if (costs.energy_j) { record.remarks.push_back(energy_line(step, costs)); }
  if (costs.rent_usd) { record.remarks.push_back(rent_line(step, costs, figures)); }
  const std::optional<double> steps = steps_of(step, figures);
  if (steps) { record.remarks.push_back(training_line(step, costs, *steps)); }
}

std::vector<const Column*> figures_of_step_costs() { return {&kEnergy, &kTokensPerJoule, &kCost}; }

void put_step_costs(const StepResult& step, const StepCosts& costs, const CostFigures& figures, Record& record) {
  const double tokens = tokens_of(step);
  record.put_if(kEnergy, costs.energy_j);
  record.put_if(kGpuEnergy, costs.gpu_j);
  record.put_if(kNodeEnergy, costs.node_j);
  record.put_if(kSwitchEnergy, costs.switch_j);
  record.put_if(kElectricity, costs.electricity_usd);
  if (costs.energy_j && tokens > 0) { record.put(kTokensPerJoule, tokens / *costs.energy_j); }
  if (costs.rent_usd) { record.put(kCost, range_json(*costs.rent_usd, 1)); }
  if (costs.rent_usd && tokens > 0) { record.put(kCostPerMillionTokens, range_json(*costs.rent_usd, 1e6 / tokens)); }
  const std::optional<double> steps = steps_of(step, figures);
  if (!steps) { return; }
  record.put(kTrainingDays, *steps * seconds(step.time) / kSecondsPerDay);
  if (costs.energy_j) { record.put(kTrainingEnergy, *steps * *costs.energy_j / kJoulesPerKwh); }
  if (costs.rent_usd) { record.put(kTrainingCost, range_json(*costs.rent_usd, *steps)); }
}

}  // namespace athanor
