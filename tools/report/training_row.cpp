#include "tools/report/training_row.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/format.hpp"

namespace athanor {

namespace {

double share_of(Time part, Time whole) { return whole == Time::zero() ? 0 : seconds(part) / seconds(whole); }

/// Computing by label, averaged over stages, the longest first.
std::vector<std::pair<std::string, double>> computing_by_label(const TrainingRow& row,
                                                               const std::vector<std::string>& labels) {
  std::vector<std::pair<std::string, double>> shares;
  const auto& workers = row.result.workload.workers;
  for (std::size_t label = 0; label < labels.size(); ++label) {
    double sum = 0;
    for (const WorkerTime& worker : workers) { sum += share_of(worker.labels[label], row.result.time); }
    if (sum > 0) { shares.emplace_back(labels[label], sum / static_cast<double>(workers.size())); }
  }
  std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return shares;
}

double exposed(const StepResult& result) {
  double sum = 0;
  for (const double each : result.exposed) { sum += each; }
  return sum;
}

std::string degrees(const ParallelPlan& plan) {
  std::vector<std::string> parts;
  const auto add = [&](const char* what, std::uint32_t degree) {
    if (degree > 1) { parts.push_back(fmt::format("{} {}", what, degree)); }
  };
  add("tensor", plan.tensor);
  add("context", plan.context);
  if (plan.pipeline > 1) { parts.push_back(fmt::format("pipeline {} ({})", plan.pipeline, name(plan.schedule))); }
  add("virtual stages", plan.virtual_stages);
  add("data", plan.data);
  add("expert", plan.expert);
  return parts.empty() ? "one GPU" : fmt::format("{}", fmt::join(parts, ", "));
}

/// Calls of one use, kind, size and way, of all groups and stages.
struct CallsOfAKind {
  const CallPrice* price = nullptr;
  Parallelism use = Parallelism::other;
  std::uint64_t count = 0;
  Time time;
  Time alone;
};

std::vector<CallsOfAKind> calls_by_kind(const TrainingRow& row) {
  std::vector<CallsOfAKind> kinds;
  for (const CallTime& call : row.result.workload.calls) {
    const CallPrice& price = row.result.prices[call.price];
    if (price.algorithm == "none") { continue; }
    const auto same = [&](const CallsOfAKind& each) {
      return each.use == call.use && each.price->kind == price.kind && each.price->size == price.size &&
             each.price->algorithm == price.algorithm && each.price->protocol == price.protocol;
    };
    auto found = std::find_if(kinds.begin(), kinds.end(), same);
    if (found == kinds.end()) { found = kinds.insert(kinds.end(), {&price, call.use, 0, {}, {}}); }
    found->count += call.count;
    found->time += call.time;
    found->alone += price.time * static_cast<std::int64_t>(call.count);
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const CallsOfAKind& a, const CallsOfAKind& b) { return a.time > b.time; });
  return kinds;
}

std::string call_line(const CallsOfAKind& calls) {
  const auto count = static_cast<double>(calls.count);
  return fmt::format("#   {:>7} x {} {} of {}, {} {}: {:.1f} us each, {:.1f} us alone\n", calls.count, name(calls.use),
                     name(calls.price->kind), to_string(calls.price->size), calls.price->algorithm,
                     calls.price->protocol, microseconds(calls.time) / count, microseconds(calls.alone) / count);
}

}  // namespace

double TrainingRow::error() const { return seconds(result.time) / seconds(*measured) - 1; }

std::string describe(const TrainingSetup& setup) {
  const ParallelPlan& plan = setup.plan;
  return fmt::format("{} on {} {}: {}; batch {} of {} at once, {} in {}", setup.model.name, plan.ranks(),
                     setup.gpu.name, degrees(plan), plan.global_batch, plan.micro_batch,
                     setup.model.transformer ? fmt::format("{} tokens", plan.sequence) : "samples",
                     name(plan.precision));
}

std::string training_header_lines(const TableHeader& header) {
  return description_lines(header) +
         fmt::format("#{:>11} {:>12} {:>8} {:>6} {:>9} {:>7} {:>7} {:>9} {:>11} {:>7}\n", "step", "tokens", "TFLOP/s",
                     "MFU", "computing", "bubble", "exposed", "straggler", "measured", "error") +
         fmt::format("#{:>11} {:>12} {:>8} {:>6} {:>9} {:>7} {:>7} {:>9} {:>11} {:>7}\n", "(ms)", "(1/s)", "per GPU",
                     "(%)", "(%)", "(%)", "(%)", "(%)", "(ms)", "(%)");
}

std::string training_row_line(const TrainingRow& row) {
  const StepResult& result = row.result;
  const double rate = result.tokens_per_s > 0 ? result.tokens_per_s : result.samples_per_s;
  std::string line = fmt::format("{} {} {:>8.1f} {:>6.2f} {:>9.2f} {:>7.2f} {:>7.2f} {:>9.2f}",
                                 fitted(microseconds(result.time) / 1000, 12), fitted(rate, 12), result.tflops_per_gpu,
                                 result.mfu * 100, result.computing * 100, result.bubble * 100, exposed(result) * 100,
                                 result.spread * 100);
  if (row.measured) {
    line += fmt::format(" {} {:>+7.1f}", fitted(microseconds(*row.measured) / 1000, 11), row.error() * 100);
  }
  return line + "\n";
}

std::string training_detail_lines(const TrainingRow& row) {
  std::vector<std::string> parts;
  for (std::size_t use = 0; use < kParallelisms; ++use) {
    if (row.result.exposed[use] < 5e-5) { continue; }
    parts.push_back(fmt::format("{} {:.2f} %", name(static_cast<Parallelism>(use)), row.result.exposed[use] * 100));
  }
  std::string lines = parts.empty() ? "" : fmt::format("#   exposed: {}\n", fmt::join(parts, ", "));
  parts.clear();
  for (const auto& [label, share] : computing_by_label(row, row.result.labels)) {
    if (share < 5e-4 || parts.size() == 8) { continue; }
    parts.push_back(fmt::format("{} {:.1f} %", label, share * 100));
  }
  if (!parts.empty()) { lines += fmt::format("#   computing: {}\n", fmt::join(parts, ", ")); }
  for (const CallsOfAKind& calls : calls_by_kind(row)) { lines += call_line(calls); }
  lines += fmt::format("#   memory: {:.1f} GB on a GPU of the fullest stage, of {:.0f}\n", row.memory * 1e-9,
                       row.setup.gpu.memory * 1e-9);
  for (const std::string& note : row.notes) { lines += fmt::format("#   {}\n", note); }
  return lines;
}

nlohmann::ordered_json training_json(const TrainingRow& row) {
  const StepResult& result = row.result;
  const ParallelPlan& plan = row.setup.plan;
  nlohmann::ordered_json breakdown = {{"computing", result.computing}, {"bubble", result.bubble}};
  for (std::size_t use = 0; use < kParallelisms; ++use) {
    breakdown[fmt::format("exposed_{}", name(static_cast<Parallelism>(use)))] = result.exposed[use];
  }
  breakdown["stragglers"] = result.spread;
  nlohmann::ordered_json json = {{"scenario", row.scenario},
                                 {"case", row.case_name},
                                 {"model", row.setup.model.name},
                                 {"gpu", row.setup.gpu.name},
                                 {"gpus", plan.ranks()},
                                 {"precision", name(plan.precision)},
                                 {"tensor", plan.tensor},
                                 {"context", plan.context},
                                 {"pipeline", plan.pipeline},
                                 {"data", plan.data},
                                 {"expert", plan.expert},
                                 {"schedule", name(plan.schedule)},
                                 {"virtual_stages", plan.virtual_stages},
                                 {"micro_batch", plan.micro_batch},
                                 {"global_batch", plan.global_batch},
                                 {"sequence", plan.sequence},
                                 {"step_time_s", seconds(result.time)},
                                 {"samples_per_s", result.samples_per_s},
                                 {"tokens_per_s", result.tokens_per_s},
                                 {"tflops_per_gpu", result.tflops_per_gpu},
                                 {"mfu", result.mfu},
                                 {"bubble_fraction", result.bubble},
                                 {"exposed_comm_s", exposed(result) * seconds(result.time)},
                                 {"breakdown", breakdown},
                                 {"memory_gb", row.memory * 1e-9},
                                 {"network", row.network}};
  if (row.measured) {
    json["measured_time_s"] = seconds(*row.measured);
    json["error"] = row.error();
  }
  json["notes"] = row.notes;
  return json;
}

}  // namespace athanor
