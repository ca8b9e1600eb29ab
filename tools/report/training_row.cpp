#include "tools/report/training_row.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/format.hpp"
#include "sim/printable.hpp"
#include "tools/report/step_costs_text.hpp"
#include "tools/report/workload_parts.hpp"
#include "tools/scenario/training_gpus.hpp"

namespace athanor {

namespace {

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

/// Of unequal GPUs, those that ranks have.
nlohmann::ordered_json kinds_json(const TrainingRow& row) {
  nlohmann::ordered_json kinds = nlohmann::ordered_json::array();
  for (std::size_t kind = 0; kind < row.result.kinds.size(); ++kind) {
    const auto& [ranks, computing] = row.result.kinds[kind];
    const GpuRates& gpu = kind == 0 ? row.setup.gpu : row.setup.others[kind - 1].gpu;
    if (ranks > 0) { kinds.push_back({{"gpu", gpu.name}, {"gpus", ranks}, {"computing", computing}}); }
  }
  return kinds;
}

/// "#   H100-SXM-80GB computes 42.1 %, A100-SXM-80GB 88.0 %": the faster ones wait.
std::string kinds_line(const TrainingRow& row) {
  std::vector<std::string> parts;
  for (const auto& kind : kinds_json(row)) {
    parts.push_back(fmt::format("{} {:.1f} %", kind["gpu"].get<std::string>(), kind["computing"].get<double>() * 100));
  }
  return fmt::format("#   computing by GPU: {}\n", fmt::join(parts, ", "));
}

}  // namespace

double TrainingRow::error() const { return seconds(result.time) / seconds(*measured) - 1; }

std::string describe(const TrainingSetup& setup) {
  const ParallelPlan& plan = setup.plan;
  return fmt::format("{} on {}: {}; batch {} of {} at once, {} in {}", setup.model.name, counted_gpus(setup),
                     degrees(plan), plan.global_batch, plan.micro_batch,
                     setup.model.transformer ? fmt::format("{} tokens", plan.sequence) : "samples",
                     name(plan.precision));
}

std::string training_header_lines(const TableHeader& header, bool tokens) {
  return description_lines(header) +
         fmt::format("#{:>11} {:>12} {:>8} {:>6} {:>9} {:>7} {:>7} {:>9} {:>11} {:>7}\n", "step",
                     tokens ? "tokens" : "samples", "TFLOP/s", "MFU", "computing", "bubble", "exposed", "straggler",
                     "measured", "error") +
         fmt::format("#{:>11} {:>12} {:>8} {:>6} {:>9} {:>7} {:>7} {:>9} {:>11} {:>7}\n", "(ms)", "(1/s)", "per GPU",
                     "(%)", "(%)", "(%)", "(%)", "(%)", "(ms)", "(%)");
}

std::string training_row_line(const TrainingRow& row) {
  const StepResult& result = row.result;
  const double rate = result.tokens_per_s > 0 ? result.tokens_per_s : result.samples_per_s;
  std::string line =
      fmt::format("{} {} {:>8.1f} {:>6.2f} {:>9.2f} {:>7.2f} {:>7.2f} {:>9.2f}", fitted_ms(result.time, 12),
                  fitted(rate, 12), result.tflops_per_gpu, result.mfu * 100, result.shares.computing * 100,
                  result.shares.waiting * 100, result.shares.all_exposed() * 100, result.spread * 100);
  if (row.measured) {
    line += fmt::format(" {} {:>+7.1f}", fitted(microseconds(*row.measured) / 1000, 11), row.error() * 100);
  }
  return line + "\n";
}

std::string training_detail_lines(const TrainingRow& row) {
  const std::string exposed = exposed_text(row.result.shares);
  std::string lines = exposed.empty() ? "" : fmt::format("#   exposed: {}\n", exposed);
  const std::string computing = computing_text(row.result.workload, row.result.time);
  if (!computing.empty()) { lines += fmt::format("#   computing: {}\n", computing); }
  if (!row.setup.others.empty()) { lines += kinds_line(row); }
  lines += call_lines(row.result.workload);
  lines += fmt::format("#   memory: {:.1f} GB on a GPU of the fullest stage, of {:.0f}\n", row.memory * 1e-9,
                       smallest_gpu(row.setup).memory * 1e-9);
  lines += step_costs_lines(row.result, row.costs, row.figures);
  for (const std::string& note : row.notes) { lines += fmt::format("#   {}\n", printable(note)); }
  return lines;
}

nlohmann::ordered_json training_json(const TrainingRow& row) {
  const StepResult& result = row.result;
  const ParallelPlan& plan = row.setup.plan;
  nlohmann::ordered_json breakdown = breakdown_json(result.shares, "bubble");
  breakdown["stragglers"] = result.spread;
  nlohmann::ordered_json json = {{"scenario", row.scenario},
                                 {"case", row.case_name},
                                 {"model", row.setup.model.name},
                                 {"gpu", gpu_names(row.setup)},
                                 {"gpus", plan.ranks()},
                                 {"precision", name(plan.precision)},
                                 {"tensor", plan.tensor},
                                 {"context", plan.context},
                                 {"pipeline", plan.pipeline},
                                 {"data", plan.data},
                                 {"expert", plan.expert},
                                 {"schedule", name(plan.schedule)},
                                 {"virtual_stages", plan.virtual_stages},
                                 {"sharding", name(plan.sharding)},
                                 {"recompute", name(plan.recompute)},
                                 {"micro_batch", plan.micro_batch},
                                 {"global_batch", plan.global_batch},
                                 {"sequence", plan.sequence},
                                 {"step_time_s", seconds(result.time)},
                                 {"samples_per_s", result.samples_per_s},
                                 {"tflops_per_gpu", result.tflops_per_gpu},
                                 {"mfu", result.mfu},
                                 {"bubble_fraction", result.shares.waiting},
                                 {"exposed_comm_s", result.shares.all_exposed() * seconds(result.time)},
                                 {"breakdown", breakdown},
                                 {"memory_gb", row.memory * 1e-9},
                                 {"network", row.network}};
  if (row.setup.model.transformer) {
    json["tokens_per_s"] = result.tokens_per_s;
  } else {
    json.erase("sequence");
  }
  if (!row.setup.others.empty()) { json["gpu_kinds"] = kinds_json(row); }
  if (row.measured) {
    json["measured_time_s"] = seconds(*row.measured);
    json["error"] = row.error();
  }
  add_step_costs(row.result, row.costs, row.figures, json);
  json["notes"] = row.notes;
  return json;
}

}  // namespace athanor
