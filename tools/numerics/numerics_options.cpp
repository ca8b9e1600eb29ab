#include "tools/numerics/numerics_options.hpp"

#include <memory>

#include <boost/program_options/value_semantic.hpp>
#include <fmt/core.h>

#include "algorithms/execution/fixed_point.hpp"
#include "algorithms/patterns/node_groups.hpp"
#include "algorithms/schedule/aggregation_tree.hpp"
#include "models/experiments/scenario/algorithm_choice.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "tools/cli/option_values.hpp"
#include "tools/measure/machine.hpp"

namespace athanor {

namespace {

constexpr const char* kName = "numerics";

/// The value of that name among all.
template <class T>
T named_among(const char* option, const std::string& word, std::span<const T> all) {
  std::vector<std::string> names;
  for (const T each : all) {
    if (name(each) == word) { return each; }
    names.emplace_back(name(each));
  }
  refuse_name(kName, option, word, names);
}

template <class T>
std::vector<T> several(const Invocation& invocation, const char* option, T absent, std::span<const T> all) {
  if (!invocation.has(option)) { return {absent}; }
  if (invocation.text(option) == "all") { return {all.begin(), all.end()}; }
  std::vector<T> chosen;
  for (const std::string& word : words_of(kName, option, invocation.text(option))) {
    chosen.push_back(named_among(option, word, all));
  }
  return chosen;
}

Elements count_of(const Invocation& invocation, DataType type) {
  const Bytes size = invocation.has("size") ? size_option(kName, invocation, "size") : Bytes{64 * 1024};
  if (size == Bytes::zero() || size % size_of(type) != Bytes::zero()) {
    throw UsageError(fmt::format("{}: --size: {} is no whole number of {} elements of {}, from 1 on", kName,
                                 to_string(size), name(type), to_string(size_of(type))));
  }
  return Elements{size / size_of(type)};
}

/// Inputs, and what a run of each algorithm keeps at once.
void check_memory(const NumericsRequest& request) {
  const Bytes size = size_of(request.type) * request.collective.count.count();
  const double least = 3.0 * static_cast<double>(size.count()) * request.collective.ranks;
  const auto available = available_memory();
  if (!available || least <= static_cast<double>(available->count())) { return; }
  throw UsageError(
      fmt::format("{}: inputs and outputs of {} over {} ranks take at least {:.3g} GB of memory, and {} "
                  "are available; choose a smaller --size or fewer --ranks",
                  kName, to_string(size), request.collective.ranks, least / 1e9, rounded_text(*available)));
}

/// Algorithms that were named and fit, or all that fit; `note` is told what is left out.
std::vector<const Algorithm*> algorithms_for(const Invocation& invocation, const NumericsRequest& request,
                                             const std::function<void(const std::string&)>& note) {
  std::vector<const Algorithm*> chosen;
  if (invocation.has("algorithm") && invocation.text("algorithm") != "all") {
    for (const std::string& word : words_of(kName, "algorithm", invocation.text("algorithm"))) {
      chosen.push_back(&find(request.collective.kind, word));
      if (const auto problem = refusal_with_alternatives(*chosen.back(), request.collective, request.layout)) {
        throw ScenarioError(*problem);
      }
    }
    return chosen;
  }
  for (const Algorithm* algorithm : algorithms_of(request.collective.kind)) {
    if (const auto reason = algorithm->refuses(request.collective, request.layout)) {
      note(fmt::format("{} is left out: {}", algorithm->name, *reason));
    } else {
      chosen.push_back(algorithm);
    }
  }
  return chosen;
}

/// Who adds up what in the network where every switch takes in so many: as EngineTreeShape::trees has it for these
/// engines.
std::vector<Shared<AggregationTree>> trees_of(Engine engine, const NumericsRequest& request, std::uint32_t radix) {
  const std::uint32_t ranks = request.collective.ranks;
  const NodeGroups groups(ranks, request.layout);
  const auto trees = [&](std::uint32_t count, std::uint32_t leaves) {
    const Shared<AggregationTree> tree =
        std::make_shared<const AggregationTree>(AggregationTree::regular(leaves, radix));
    return std::vector(count, tree);
  };
  switch (engine) {
    case Engine::switches: return trees(1, ranks);
    case Engine::switches_per_head:
    case Engine::nvswitches_and_switches: return trees(groups.group, groups.nodes);
    case Engine::none:
    case Engine::nvswitch:
    case Engine::nvswitches:
    case Engine::server: break;
  }
  return {};
}

/// Every accumulator with every order; one that the type does not allow is left out of "all" and else refused.
std::vector<NumericsSubject> arithmetics_of(const Invocation& invocation, const NumericsRequest& request) {
  const bool any = invocation.has("accumulator") && invocation.text("accumulator") == "all";
  const auto orders = several(invocation, "order", SummationOrder::ports, summation_orders());
  std::vector<NumericsSubject> arithmetics;
  for (const Accumulator accumulator : several(invocation, "accumulator", Accumulator::data, accumulators())) {
    for (const SummationOrder order : orders) {
      const EngineArithmetic engines{.accumulator = accumulator, .order = order, .seed = request.seed};
      const auto reason = refusal(engines, request.type);
      if (!reason) { arithmetics.push_back({nullptr, engines}); }
      if (reason && !any) {
        throw UsageError(fmt::format("{}: --accumulator {}: {}", kName, name(accumulator), *reason));
      }
    }
  }
  const std::uint32_t block = number_option(kName, invocation, "block", 1).value_or(256);
  if (!invocation.has("fixed-point")) {
    if (invocation.has("block")) { throw UsageError(fmt::format("{}: --block is of --fixed-point", kName)); }
    return arithmetics;
  }
  if (const auto reason = FixedPoint::refusal(request.collective, request.type, Reduction::sum)) {
    throw UsageError(fmt::format("{}: --fixed-point: {}", kName, *reason));
  }
  for (const SummationOrder order : orders) {
    arithmetics.push_back({nullptr, {.order = order, .seed = request.seed}, Elements{block}});
  }
  return arithmetics;
}

}  // namespace

boost::program_options::options_description numerics_options() {
  namespace options = boost::program_options;
  options::options_description result("options");
  auto add = result.add_options();
  const auto text = [](const char* what) { return options::value<std::string>()->value_name(what); };
  add("collective", text("NAME"), "all_reduce, reduce or reduce_scatter; absent: all_reduce");
  add("algorithm", text("NAMES"), "ring,aggregation_tree; absent or all: those that fit");
  add("ranks", text("N"), "how many take part; absent: 8");
  add("size", text("SIZE"), "the payload, as nccl-tests counts it; absent: 64KiB");
  add("type", text("NAME"), "of the elements: float16, bfloat16, float32, ...; absent: float32");
  add("distribution", text("NAME"),
      "of the ranks' numbers: normal, uniform, mixed_exponents or cancelling; absent: normal");
  add("seed", text("N"), "of the numbers and of orders of arrival; absent: 1");
  add("accumulator", text("NAMES"),
      "of engines: data (as the elements), float32, float64: rounded once per engine; all: those that the type allows; "
      "absent: data");
  add("order", text("NAMES"), "in which engines add: ports, arrival or all; absent: ports");
  add("fixed-point", "engines also add int32, as SwitchML does");
  add("block", text("N"), "elements to an exponent in fixed point; absent: 256");
  add("radix", text("N"), "children of a node in aggregation trees; absent: 8");
  add("group", text("N"), "ranks per node, for algorithms that know nodes; absent: as each has it");
  add("repetitions", text("N"), "runs that are held against the first; absent: 3");
  add("csv", options::value<std::string>()->implicit_value("")->value_name("[=FILE]"),
      "results as CSV on stdout or in FILE");
  return result;
}

NumericsRequest numerics_request(const Invocation& invocation) {
  const auto number = [&](const char* option, std::uint32_t least, std::uint32_t absent) {
    return number_option(kName, invocation, option, least).value_or(absent);
  };
  const auto text = [&](const char* option, const char* absent) {
    return invocation.has(option) ? invocation.text(option) : std::string(absent);
  };
  NumericsRequest request;
  request.type = named_type(kName, text("type", "float32"));
  request.collective.kind = named_collective(kName, text("collective", "all_reduce"));
  request.collective.ranks = number("ranks", 1, 8);
  request.collective.count = count_of(invocation, request.type);
  request.layout.group = number("group", 1, 0);
  request.distribution = named_among("distribution", text("distribution", "normal"), number_distributions());
  request.seed = number("seed", 0, 1);
  request.repetitions = number("repetitions", 1, 3);
  const CollectiveKind kind = request.collective.kind;
  if (!reduces(kind) || kind == CollectiveKind::barrier) {
    throw UsageError(fmt::format("{}: nothing is added up in {}; choose from all_reduce, reduce, reduce_scatter", kName,
                                 name(kind)));
  }
  if (const auto reason = invalid(request.collective, request.layout)) {
    throw UsageError(fmt::format("{}: {}", kName, *reason));
  }
  check_memory(request);
  return request;
}

std::vector<NumericsSubject> numerics_subjects(const Invocation& invocation, const NumericsRequest& request,
                                               const std::function<void(const std::string&)>& note) {
  const std::vector<NumericsSubject> arithmetics = arithmetics_of(invocation, request);
  const std::uint32_t radix = number_option(kName, invocation, "radix", 2).value_or(8);
  std::vector<NumericsSubject> subjects;
  bool engines = false;
  for (const Algorithm* algorithm : algorithms_for(invocation, request, note)) {
    const bool has_engines = algorithm->engine != Engine::none;
    engines = engines || has_engines;
    for (const NumericsSubject& arithmetic : arithmetics) {
      if (!has_engines && &arithmetic != arithmetics.data()) { continue; }
      subjects.push_back(has_engines ? arithmetic : NumericsSubject{});
      subjects.back().algorithm = algorithm;
      subjects.back().trees = trees_of(algorithm->engine, request, radix);
    }
  }
  for (const char* option : {"accumulator", "order", "fixed-point", "radix"}) {
    if (engines || !invocation.has(option)) { continue; }
    throw UsageError(
        fmt::format("{}: --{} is for engines, and none of these algorithms has any; `athanor list "
                    "algorithms` tells which have",
                    kName, option));
  }
  return subjects;
}

}  // namespace athanor
