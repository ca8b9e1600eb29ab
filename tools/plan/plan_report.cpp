#include "tools/plan/plan_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "models/experiments/interval.hpp"
#include "models/experiments/scenario/training_gpus.hpp"
#include "models/experiments/table.hpp"
#include "sim/format.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

/// One part of a step, by the name that people know it by.
struct NamedPart {
  std::string name;
  double seconds = 0;
};

std::vector<NamedPart> named(const StepParts& parts) {
  std::vector<NamedPart> all{{"computing", parts.computing_s}, {"bubble", parts.bubble_s}};
  for (std::size_t use = 0; use < kParallelisms; ++use) {
    all.push_back({fmt::format("exposed {}", name(static_cast<Parallelism>(use))), parts.exposed_s[use]});
  }
  all.push_back({"stragglers", parts.stragglers_s});
  return all;
}

std::string column_names(bool tokens) {
  const auto line = [](auto... each) {
    return fmt::format(
        "#{:>4} {:>12} {:>12} {:>8} {:>6} {:>8}  {:>4} {:>4} {:>4} {:>5} {:>4} {:>5}  {:<16} {:<10} {}\n", each...);
  };
  return line("", "step", tokens ? "tokens" : "samples", "TFLOP/s", "MFU", "memory", "TP", "CP", "PP", "DP", "EP",
              "micro", "schedule", "sharding", "recompute") +
         line("", "(ms)", "(1/s)", "per GPU", "(%)", "(GB)", "", "", "", "", "", "batch", "", "", "");
}

std::string schedule_text(const ParallelPlan& plan) {
  if (plan.pipeline == 1) { return "-"; }
  if (plan.schedule != PipelineKind::interleaved) { return std::string(name(plan.schedule)); }
  return fmt::format("{} x {}", name(plan.schedule), plan.virtual_stages);
}

std::string experts_text(const ParallelPlan& plan) {
  return plan.expert_tensor > 1 ? fmt::format("{}x{}", plan.expert, plan.expert_tensor)
                                : fmt::format("{}", plan.expert);
}

std::string plan_line(const std::string& rank, const RankedPlan& each) {
  const ParallelPlan& plan = each.plan;
  const double rate = each.tokens_per_s > 0 ? each.tokens_per_s : each.samples_per_s;
  return fmt::format("{:>5} {} {} {:>8.1f} {:>6.2f} {:>8.1f}  {:>4} {:>4} {:>4} {:>5} {:>4} {:>5}  {:<16} {:<10} {}\n",
                     rank, fitted(microseconds(each.parts.time) / 1000, 12), fitted(rate, 12), each.tflops_per_gpu,
                     each.mfu * 100, each.memory.total() * 1e-9, plan.tensor, plan.context, plan.pipeline, plan.data,
                     experts_text(plan), plan.micro_batch, schedule_text(plan), name(plan.sharding),
                     recompute_text(plan));
}

/// The reasons for which most are refused; JSON has all.
std::string refused_lines(const PlanSearchResult& result) {
  std::vector<std::pair<std::uint64_t, std::string>> reasons;
  for (const auto& [why, count] : result.refused) { reasons.emplace_back(count, why); }
  std::stable_sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  if (reasons.size() > 4) { reasons.resize(4); }
  std::string lines;
  for (const auto& [count, why] : reasons) { lines += fmt::format("#   {} refused: {}\n", count, why); }
  return lines;
}

std::string searched_lines(const PlanReport& report) {
  const PlanSearchResult& result = report.result;
  std::string lines = fmt::format("# {} plans divide GPUs and batch", result.plans);
  std::uint64_t refused = 0;
  for (const auto& [why, count] : result.refused) { refused += count; }
  if (refused > 0) { lines += fmt::format("; {} are refused", refused); }
  if (report.room > 0) {
    lines +=
        fmt::format("; {} do not fit into {:.1f} GB ({:.0f} of {} less {:.1f})", result.unfit, report.room * 1e-9,
                    smallest_gpu(report.setup).memory * 1e-9, smallest_gpu(report.setup).name, report.reserve * 1e-9);
  }
  lines += fmt::format("; {} are too slow by their bounds; {} were simulated\n", result.bounded, result.simulated);
  return lines + refused_lines(result) +
         (result.complete ? "# no plan of these that was not simulated is faster than those listed\n"
                          : "# NOT complete: plans that were not simulated may be faster\n");
}

std::string own_lines(const PlanReport& report) {
  const PlanSearchResult& result = report.result;
  if (!report.own_fault.empty()) {
    return fmt::format("# the plan of the scenario cannot be run: {}\n", report.own_fault);
  }
  if (!result.own) { return ""; }
  std::string place = fmt::format("{}", result.own_first);
  if (result.own_last > result.own_first) { place += fmt::format(" to {}", result.own_last); }
  const bool fits = report.room == 0 || result.own->memory.total() <= report.room;
  std::string lines = fmt::format("# the plan of the scenario: {}\n#   place {}{}: {:.1f} ms, {:.1f} GB",
                                  describe(result.own->plan), place, fits ? "" : ", if it did fit",
                                  microseconds(result.own->parts.time) / 1000, result.own->memory.total() * 1e-9);
  if (!result.best.empty()) { lines += "; " + difference_text(result.own->parts, result.best.front().parts); }
  return lines + "\n";
}

/// Plans of one search err together: that the first is the fastest is more certain than its time.
std::string interval_line(const PlanReport& report) {
  const std::vector<RankedPlan>& best = report.result.best;
  if (!report.expected_error || best.empty()) { return ""; }
  std::string lines = fmt::format("# eight of ten measured steps are expected within {} of these times\n",
                                  interval_text(report.expected_error->low, report.expected_error->high));
  if (best.size() < 2) { return lines; }
  const double next = certainty_of_first(report, 1);
  lines += fmt::format("# place 1 is faster than place 2 with {:.0f} %", next * 100);
  if (best.size() > 2) {
    lines +=
        fmt::format(", than place {} with {:.0f} %", best.size(), certainty_of_first(report, best.size() - 1) * 100);
  }
  return lines + "\n";
}

std::string miss_lines(const PlanReport& report) {
  const PlanSearchResult& result = report.result;
  if (result.smallest) {
    std::string lines =
        fmt::format("# no plan fits into {:.1f} GB; the smallest takes {:.1f} GB: {}\n", report.room * 1e-9,
                    result.smallest->memory.total() * 1e-9, describe(result.smallest->plan));
    for (const std::string& each : report.advice) { lines += fmt::format("#   would help: {}\n", each); }
    return lines;
  }
  if (!result.miss) { return ""; }
  const double longer = seconds(result.miss->bound) / seconds(result.best.front().parts.time) - 1;
  return fmt::format("# the nearest miss needs {:.1f} GB, {:.1f} too many, and may save {:.1f} % (its bound): {}\n",
                     result.miss->memory.total() * 1e-9, (result.miss->memory.total() - report.room) * 1e-9,
                     -longer * 100, describe(result.miss->plan));
}

}  // namespace

std::string describe(const ParallelPlan& plan) {
  std::string text = fmt::format("tensor {}, context {}, pipeline {}", plan.tensor, plan.context, plan.pipeline);
  if (plan.pipeline > 1) { text += fmt::format(" ({})", schedule_text(plan)); }
  text += fmt::format(", data {}{}", plan.data, plan.has_one_process() ? " in one process" : "");
  if (plan.expert > 1 || plan.expert_tensor > 1) { text += fmt::format(", expert {}", experts_text(plan)); }
  return text + fmt::format("; micro-batch {}, sharding {}, recompute {}", plan.micro_batch, name(plan.sharding),
                            recompute_text(plan));
}

double certainty_of_first(const PlanReport& report, std::size_t place) {
  const std::vector<RankedPlan>& best = report.result.best;
  const double spread = spread_of(report.expected_error->low, report.expected_error->high);
  const double ratio = seconds(best[place].parts.time) / seconds(best.front().parts.time);
  return certainty(ratio, spread, spread, report.expected_error->shared);
}

std::string shares_text(const StepParts& parts) {
  std::vector<std::string> words;
  for (const NamedPart& part : named(parts)) {
    const double share = part.seconds / seconds(parts.time) * 100;
    if (share >= 0.05) { words.push_back(fmt::format("{} {:.1f} %", part.name, share)); }
  }
  return fmt::format("{}", joined(words, ", "));
}

std::string difference_text(const StepParts& parts, const StepParts& best) {
  const double whole = seconds(best.time);
  const std::vector<NamedPart> own = named(parts);
  const std::vector<NamedPart> others = named(best);
  std::vector<std::string> words;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const double more = (own[i].seconds - others[i].seconds) / whole * 100;
    if (std::abs(more) >= 0.1) { words.push_back(fmt::format("{} {:+.1f}", own[i].name, more)); }
  }
  return fmt::format("{:+.1f} %{}{}", (seconds(parts.time) / whole - 1) * 100, words.empty() ? "" : ": ",
                     joined(words, ", "));
}

std::string plan_lines(const PlanReport& report, const Heading& heading) {
  std::string lines = heading.text();
  const std::vector<RankedPlan>& best = report.result.best;
  if (!best.empty()) { lines += column_names(report.setup.model.transformer.has_value()); }
  for (std::size_t i = 0; i < best.size(); ++i) {
    lines += plan_line(fmt::format("{}", i + 1), best[i]);
    lines += fmt::format("#     {}\n",
                         i == 0 ? shares_text(best[i].parts) : difference_text(best[i].parts, best.front().parts));
  }
  return lines + interval_line(report) + searched_lines(report) + own_lines(report) + miss_lines(report);
}

}  // namespace athanor
