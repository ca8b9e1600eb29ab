#include "tools/plan/plan_options.hpp"

#include <algorithm>

#include "tools/cli/option_values.hpp"

namespace athanor {

namespace {

void sort_unique(std::vector<std::uint32_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

/// "all" is every kind.
template <class T>
std::vector<T> kinds_of(const std::optional<std::vector<std::string>>& words, const char* option,
                        const std::vector<T>& all) {
  if (!words) { return {}; }
  if (*words == std::vector<std::string>{"all"}) { return all; }
  std::vector<std::string> names;
  for (const T each : all) { names.emplace_back(name(each)); }
  std::vector<T> kinds;
  for (const std::string& word : *words) {
    const auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end()) { refuse_name("plan", option, word, names); }
    kinds.push_back(all[static_cast<std::size_t>(found - names.begin())]);
  }
  return kinds;
}

void check_gpus(const std::vector<std::uint32_t>& gpus, std::uint32_t endpoints) {
  for (const std::uint32_t each : gpus) {
    if (each <= endpoints) { continue; }
    throw UsageError(
        fmt::format("plan: --gpus {}: the cluster of the scenario has {} endpoints; ask for as many at most, or change "
                    "it with --set /cluster/nodes=N",
                    each, endpoints));
  }
}

}  // namespace

void visit(OptionFields& fields, PlanOptions& options) {
  constexpr const char* kList = "A,B,...";
  PlanSpace& space = options.space;
  fields.numbers("gpus", kList, space.gpus, 1, "how many of the cluster's endpoints a plan uses (all)");
  fields.numbers("tensor", kList, space.tensor, 1, "tensor ranks (powers of two within a node)");
  fields.numbers("context", kList, space.context, 1, "context ranks (powers of two that leave each 4096 tokens)");
  fields.numbers("pipeline", kList, space.pipeline, 1, "stages (all that the layers spread over evenly)");
  fields.numbers("virtual-stages", kList, space.virtual_stages, 2,
                 "chunks of each stage of interleaved (all that spread evenly)");
  fields.numbers("data-parallel", kList, space.data, 1, "copies (what the other degrees leave)");
  fields.numbers("expert", kList, space.expert, 1, "expert ranks (powers of two that divide the experts, and all)");
  fields.numbers("expert-tensor", kList, space.expert_tensor, 1,
                 "ranks that share an expert (1, and as many as tensor)");
  fields.numbers("micro-batch", kList, space.micro_batch, 1, "sequences at once (powers of two up to 64)");
  fields.words("schedule", kList, options.schedules,
               "of gpipe, 1f1b, interleaved, zb_h1, zb_h2, zb_v, dual_pipe; or all (without gpipe; dual_pipe with "
               "experts)");
  fields.words("sharding", kList, options.sharding, "of none, optimizer, gradients, parameters (all)");
  fields.words("recompute", kList, options.recompute, "of none, selective, full (all)");
  fields.flag("uneven", space.uneven, "also pipelines over which the layers do not spread evenly");
  fields.size("reserve", "SIZE", options.reserve, "of each GPU's memory that a plan leaves free (4GB)");
  fields.number("top", "N", options.top, 1, "how many plans are listed (10)");
  fields.number("most", "N", options.most, 1, "simulates so many plans at most; the list may then lack better ones");
  fields.written_file("output,o", options.output, "writes the scenario with the best plan");
  fields.texts("set", "/POINTER=VALUE", options.scenario.settings, "changes the scenario first; repeatable");
  fields.texts("case", "NAME", options.scenario.cases, "this case; needed where there are several");
  fields.text("seed", "N", options.scenario.seed, "instead of the scenario's");
  fields.written_file_or_stdout("csv", options.scenario.csv, "the plans as CSV on stdout or in FILE");
}

PlanSpace space_of(const PlanOptions& options, const TrainingSetup& setup, std::uint32_t endpoints,
                   std::uint32_t domain) {
  PlanSpace space = options.space;
  for (auto* numbers : {&space.gpus, &space.tensor, &space.context, &space.pipeline, &space.virtual_stages, &space.data,
                        &space.expert, &space.expert_tensor, &space.micro_batch}) {
    sort_unique(*numbers);
  }
  check_gpus(space.gpus, endpoints);
  if (space.gpus.empty()) { space.gpus = {endpoints}; }
  using enum PipelineKind;
  space.schedules = kinds_of<PipelineKind>(options.schedules, "schedule",
                                           {gpipe, one_f_one_b, interleaved, zb_h1, zb_h2, zb_v, dual_pipe});
  space.sharding = kinds_of<Sharding>(options.sharding, "sharding",
                                      {Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters});
  space.recompute =
      kinds_of<Recompute>(options.recompute, "recompute", {Recompute::none, Recompute::selective, Recompute::full});
  return default_space(std::move(space), setup, domain);
}

}  // namespace athanor
