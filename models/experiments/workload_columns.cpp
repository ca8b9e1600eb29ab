#include "models/experiments/workload_columns.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "algorithms/catalog.hpp"
#include "models/execution/candidate.hpp"
#include "models/experiments/scenario/profile_section.hpp"
#include "models/software/profile.hpp"
#include "sim/format.hpp"
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
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string computing_text(const WorkloadResult& result, Time whole) {
  std::vector<std::string> parts;
  for (const auto& [label, share] : computing_by_label(result, whole)) {
    if (share < 5e-4 || parts.size() == kMostLabels) { continue; }
    parts.push_back(fmt::format("{} {:.1f} %", label, share * 100));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
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

void add_workload_notes(const WorkloadResult& result, const Platform& platform, std::vector<std::string>& notes) {
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
        "without a \"profile\" collectives cost no software: no launch, no protocol; `athanor list profiles` names "
        "some");
  }
}

}  // namespace athanor
