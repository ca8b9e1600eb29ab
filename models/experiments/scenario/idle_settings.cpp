#include "models/experiments/scenario/idle_settings.hpp"

#include <fmt/core.h>

namespace athanor {

namespace {

struct Rule {
  std::string key;
  bool (*acts)(const ParallelPlan&);
  const char* needs;
};

bool has_copies(const ParallelPlan& plan) { return plan.data * plan.context > 1; }
bool shards(const ParallelPlan& plan, Sharding from) {
  return has_copies(plan) && plan.sharding >= from && plan.shard_group != 1;
}
bool gathers_layers(const ParallelPlan& plan) { return shards(plan, Sharding::gradients); }
bool splits_layers(const ParallelPlan& plan) { return plan.tensor > 1; }

bool multiplies_fp8(const ParallelPlan& plan) { return plan.precision == Precision::fp8; }
bool has_master_copy(const ParallelPlan& plan) {
  // Under autocast parameters are their own master copy.
  return plan.precision != Precision::fp32 && plan.precision != Precision::tf32 && !plan.casts_parameters();
}

constexpr auto kGathers = R"(several copies, and "sharding" of gradients or parameters)";
constexpr auto kTensor = R"("tensor" of 2 or more)";

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all{
      {"sequence_parallel", &splits_layers, kTensor},
      {"overlap_tensor", &splits_layers, kTensor},
      {"overlap_pipeline", [](const ParallelPlan& plan) { return plan.pipeline > 1; }, R"("pipeline" of 2 or more)"},
      {"schedule", [](const ParallelPlan& plan) { return plan.pipeline > 1; }, R"("pipeline" of 2 or more)"},
      {"single_process", &has_copies, "several copies"},
      {"sharding", &has_copies, "several copies"},
      {"compression", &has_copies, "several copies"},
      {"shard_group", [](const ParallelPlan& plan) { return has_copies(plan) && plan.sharding != Sharding::none; },
       R"(several copies, and "sharding")"},
      {"prefetch", &gathers_layers, kGathers},
      {"shard_calls", &gathers_layers, kGathers},
      {"gather_again",
       [](const ParallelPlan& plan) {
         return gathers_layers(plan) && (plan.sharding == Sharding::gradients || plan.recompute != Recompute::none);
       },
       R"(several copies, and "sharding" of gradients, or of parameters with "recompute")"},
      {"host_per_rank", &gathers_layers, kGathers},
      {"reduce_every", &gathers_layers, kGathers},
      {"fp8_parameters", &multiplies_fp8, R"("precision" of fp8)"},
      {"master_bytes", &has_master_copy, R"(parameters of 2 bytes, or narrower ones, without "autocast")"},
      {"moment_bytes", [](const ParallelPlan& plan) { return costs_of(plan.optimizer).moments > 0; },
       R"(an "optimizer" with moments of its own: "adam", "sgd_momentum" or "muon")"},
      {"overlap_gradients", [](const ParallelPlan& plan) { return has_copies(plan) && !gathers_layers(plan); },
       "several copies of whole layers; sharded ones are reduced beside backward in any case"},
      {"overlap_parameters",
       [](const ParallelPlan& plan) {
         const bool once = plan.sharding == Sharding::gradients && !plan.gather_again;
         return shards(plan, Sharding::optimizer) && (once || !gathers_layers(plan));
       },
       R"(several copies, and "sharding" of the optimizer, or of gradients without "gather_again")"},
      {"bucket",
       [](const ParallelPlan& plan) {
         const bool overlaps =
             plan.overlap_gradients || (plan.sharding == Sharding::optimizer && plan.overlap_parameters);
         return has_copies(plan) && (plan.sharding == Sharding::gradients || (overlaps && !gathers_layers(plan)));
       },
       R"(several copies that reduce gradients in parts: "overlap_gradients")"},
      {"autocast", [](const ParallelPlan& plan) { return plan.casts_parameters() || !plan.autocast; },
       R"("precision" of 16 bits)"},
      {"fp8_recipe", &multiplies_fp8, R"("precision": "fp8")"},
  };
  return all;
}

}  // namespace

const std::vector<std::string>& keys_that_may_be_idle() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> all;
    for (const Rule& rule : rules()) { all.push_back(rule.key); }
    return all;
  }();
  return keys;
}

std::vector<std::string> idle_keys(const ParallelPlan& plan) {
  std::vector<std::string> keys;
  for (const Rule& rule : rules()) {
    if (!rule.acts(plan)) { keys.push_back(rule.key); }
  }
  return keys;
}

std::vector<std::string> idle_settings(const ParallelPlan& plan, const std::set<std::string>& written) {
  std::vector<std::string> lines;
  for (const Rule& rule : rules()) {
    if (!written.contains(rule.key) || rule.acts(plan)) { continue; }
    lines.push_back(fmt::format("\"{}\" has no effect here: it needs {}", rule.key, rule.needs));
  }
  return lines;
}

}  // namespace athanor
