#include "tools/plan/plan_options.hpp"

#include <algorithm>

#include <boost/program_options/value_semantic.hpp>

#include "tools/cli/option_values.hpp"

namespace athanor {

namespace {

constexpr std::string_view kCommand = "plan";

std::vector<std::uint32_t> numbers_of(const Invocation& invocation, const char* option, std::uint32_t least) {
  std::vector<std::uint32_t> numbers;
  if (!invocation.has(option)) { return numbers; }
  for (const std::string& word : words_of(kCommand, option, invocation.text(option))) {
    numbers.push_back(number_in(kCommand, option, word, least));
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

/// "all" is every kind.
template <class T>
std::vector<T> kinds_of(const Invocation& invocation, const char* option, const std::vector<T>& all) {
  std::vector<T> kinds;
  if (!invocation.has(option)) { return kinds; }
  if (invocation.text(option) == "all") { return all; }
  std::vector<std::string> names;
  for (const T each : all) { names.emplace_back(name(each)); }
  for (const std::string& word : words_of(kCommand, option, invocation.text(option))) {
    const auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end()) { refuse_name(kCommand, option, word, names); }
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

boost::program_options::options_description plan_options() {
  namespace options = boost::program_options;
  options::options_description described("options");
  auto add = described.add_options();
  const auto list = [] { return options::value<std::string>()->value_name("A,B,..."); };
  const auto text = [](const char* what) { return options::value<std::string>()->value_name(what); };
  add("gpus", list(), "how many of the cluster's endpoints a plan uses (all)");
  add("tensor", list(), "tensor ranks (powers of two within a node)");
  add("context", list(), "context ranks (powers of two that leave each 4096 tokens)");
  add("pipeline", list(), "stages (all that the layers spread over evenly)");
  add("virtual-stages", list(), "chunks of each stage of interleaved (all that spread evenly)");
  add("data-parallel", list(), "copies (what the other degrees leave)");
  add("expert", list(), "expert ranks (powers of two that divide the experts, and all)");
  add("expert-tensor", list(), "ranks that share an expert (1, and as many as tensor)");
  add("micro-batch", list(), "sequences at once (powers of two up to 64)");
  add("schedule", list(),
      "of gpipe, 1f1b, interleaved, zb_h1, zb_h2, zb_v, dual_pipe; or all (without gpipe; dual_pipe with experts)");
  add("sharding", list(), "of none, optimizer, gradients, parameters (all)");
  add("recompute", list(), "of none, selective, full (all)");
  add("uneven", "also pipelines over which the layers do not spread evenly");
  add("reserve", text("SIZE"), "of each GPU's memory that a plan leaves free (4GB)");
  add("top", text("N"), "how many plans are listed (10)");
  add("most", text("N"), "simulates so many plans at most; the list may then lack better ones");
  add("output,o", text("FILE"), "writes the scenario with the best plan");
  add("set", options::value<std::vector<std::string>>()->value_name("/POINTER=VALUE"),
      "changes the scenario first; repeatable");
  add("case", options::value<std::vector<std::string>>()->value_name("NAME"),
      "this case; needed where there are several");
  add("seed", text("N"), "instead of the scenario's");
  add("csv", options::value<std::string>()->implicit_value("")->value_name("[=FILE]"),
      "the plans as CSV on stdout or in FILE");
  return described;
}

PlanSpace space_of(const Invocation& invocation, const TrainingSetup& setup, std::uint32_t endpoints,
                   std::uint32_t domain) {
  PlanSpace space;
  space.gpus = numbers_of(invocation, "gpus", 1);
  check_gpus(space.gpus, endpoints);
  if (space.gpus.empty()) { space.gpus = {endpoints}; }
  space.tensor = numbers_of(invocation, "tensor", 1);
  space.context = numbers_of(invocation, "context", 1);
  space.pipeline = numbers_of(invocation, "pipeline", 1);
  space.virtual_stages = numbers_of(invocation, "virtual-stages", 2);
  space.data = numbers_of(invocation, "data-parallel", 1);
  space.expert = numbers_of(invocation, "expert", 1);
  space.expert_tensor = numbers_of(invocation, "expert-tensor", 1);
  space.micro_batch = numbers_of(invocation, "micro-batch", 1);
  using enum PipelineKind;
  space.schedules =
      kinds_of<PipelineKind>(invocation, "schedule", {gpipe, one_f_one_b, interleaved, zb_h1, zb_h2, zb_v, dual_pipe});
  space.sharding = kinds_of<Sharding>(invocation, "sharding",
                                      {Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters});
  space.recompute =
      kinds_of<Recompute>(invocation, "recompute", {Recompute::none, Recompute::selective, Recompute::full});
  space.uneven = invocation.has("uneven");
  return default_space(std::move(space), setup, domain);
}

double reserve_of(const Invocation& invocation) {
  return invocation.has("reserve") ? static_cast<double>(size_option(kCommand, invocation, "reserve").count())
                                   : kReserve;
}

}  // namespace athanor
