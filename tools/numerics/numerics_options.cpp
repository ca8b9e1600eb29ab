#include "tools/numerics/numerics_options.hpp"

#include <memory>

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

bool is_all(const std::optional<std::vector<std::string>>& words) {
  return words && *words == std::vector<std::string>{"all"};
}

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

/// "all" is every value.
template <class T>
std::vector<T> several(const std::optional<std::vector<std::string>>& words, const char* option, T absent,
                       std::span<const T> all) {
  if (!words) { return {absent}; }
  if (is_all(words)) { return {all.begin(), all.end()}; }
  std::vector<T> chosen;
  for (const std::string& word : *words) { chosen.push_back(named_among(option, word, all)); }
  return chosen;
}

Elements count_of(Bytes size, DataType type) {
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
std::vector<const Algorithm*> algorithms_for(const NumericsOptions& options, const NumericsRequest& request,
                                             const std::function<void(const std::string&)>& note) {
  std::vector<const Algorithm*> chosen;
  if (options.algorithms && !is_all(options.algorithms)) {
    for (const std::string& word : *options.algorithms) {
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

/// Who adds up what in the network where every switch takes in so many: as Layout::trees has it for these engines.
std::vector<Shared<AggregationTree>> trees_of(Engine engine, const NumericsRequest& request, std::uint32_t radix) {
  const std::uint32_t ranks = request.collective.ranks;
  const NodeGroups groups(ranks, request.layout);
  const auto trees = [&](std::uint32_t count, std::uint32_t leaves) {
    return std::vector(count, Shared<AggregationTree>(
                                  std::make_shared<const AggregationTree>(AggregationTree::regular(leaves, radix))));
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
std::vector<NumericsSubject> arithmetics_of(const NumericsOptions& options, const NumericsRequest& request) {
  const bool any = is_all(options.accumulators);
  const auto orders = several(options.orders, "order", SummationOrder::ports, summation_orders());
  std::vector<NumericsSubject> arithmetics;
  for (const Accumulator accumulator :
       several(options.accumulators, "accumulator", Accumulator::data, accumulators())) {
    for (const SummationOrder order : orders) {
      const EngineArithmetic engines{.accumulator = accumulator, .order = order, .seed = request.seed};
      const auto reason = refusal(engines, request.type);
      if (!reason) { arithmetics.push_back({nullptr, engines}); }
      if (reason && !any) {
        throw UsageError(fmt::format("{}: --accumulator {}: {}", kName, name(accumulator), *reason));
      }
    }
  }
  if (!options.fixed_point) {
    if (options.block && !options.quantize) {
      throw UsageError(fmt::format("{}: --block is of --fixed-point and --quantize", kName));
    }
    return arithmetics;
  }
  if (const auto reason = FixedPoint::refusal(request.collective, request.type, Reduction::sum)) {
    throw UsageError(fmt::format("{}: --fixed-point: {}", kName, *reason));
  }
  for (const SummationOrder order : orders) {
    arithmetics.push_back({nullptr, {.order = order, .seed = request.seed}, Elements{options.block.value_or(256)}});
  }
  return arithmetics;
}

/// In the formats that were asked for.
void add_quantized(const NumericsOptions& options, const NumericsRequest& request,
                   std::vector<NumericsSubject>& subjects) {
  if (!options.quantize) { return; }
  if (request.collective.kind != CollectiveKind::all_reduce || request.type != DataType::float32) {
    throw UsageError(fmt::format("{}: --quantize: an all_reduce of float32 is quantised, and this is a {} of {}", kName,
                                 name(request.collective.kind), name(request.type)));
  }
  const Algorithm& exchange = find(CollectiveKind::all_to_all, "pairwise");
  for (const QuantizedNumber number :
       several(options.quantize, "quantize", QuantizedNumber::int8, quantized_numbers())) {
    NumericsSubject subject{&exchange};
    subject.quantized = {number, options.block.value_or(256)};
    subjects.push_back(std::move(subject));
  }
}

}  // namespace

void visit(OptionFields& fields, NumericsOptions& options) {
  fields.text("collective", "NAME", options.collective, "all_reduce, reduce or reduce_scatter; absent: all_reduce");
  fields.words("algorithm", "NAMES", options.algorithms, "ring,aggregation_tree; absent or all: those that fit");
  fields.number("ranks", "N", options.ranks, 1, "how many take part; absent: 8");
  fields.size("size", "SIZE", options.size, "the payload, as nccl-tests counts it; absent: 64KiB");
  fields.text("type", "NAME", options.type, "of the elements: float16, bfloat16, float32, ...; absent: float32");
  fields.text("distribution", "NAME", options.distribution,
              "of the ranks' numbers: normal, uniform, mixed_exponents or cancelling; absent: normal");
  fields.number("seed", "N", options.seed, 0, "of the numbers and of orders of arrival; absent: 1");
  fields.words("accumulator", "NAMES", options.accumulators,
               "of engines: data (as the elements), float32, float64: rounded once per engine; all: those that the "
               "type allows; absent: data");
  fields.words("order", "NAMES", options.orders, "in which engines add: ports, arrival or all; absent: ports");
  fields.flag("fixed-point", options.fixed_point, "engines also add int32, as SwitchML does");
  fields.words("quantize", "NAMES", options.quantize,
               "all-reduces of float32 as int8, fp8_e4m3, fp8_e5m2, one_bit or all of them: all-to-all, sums by their "
               "owners, all-gather");
  fields.number("block", "N", options.block, 1,
                "elements to an exponent in fixed point, to a scale of quantised ones; absent: 256");
  fields.number("radix", "N", options.radix, 2, "children of a node in aggregation trees; absent: 8");
  fields.number("group", "N", options.group, 1,
                "ranks per node, for algorithms that know nodes; absent: as each has it");
  fields.number("repetitions", "N", options.repetitions, 1, "runs that are held against the first; absent: 3");
  fields.written_file_or_stdout("csv", options.csv, "results as CSV on stdout or in FILE");
}

NumericsRequest numerics_request(const NumericsOptions& options) {
  NumericsRequest request;
  request.type = named_type(kName, options.type.value_or("float32"));
  request.collective.kind = named_collective(kName, options.collective.value_or("all_reduce"));
  request.collective.ranks = options.ranks;
  request.collective.count = count_of(options.size.value_or(Bytes{64 * 1024}), request.type);
  request.layout.group = options.group;
  request.distribution = named_among("distribution", options.distribution.value_or("normal"), number_distributions());
  request.seed = options.seed;
  request.repetitions = options.repetitions;
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

std::vector<NumericsSubject> numerics_subjects(const NumericsOptions& options, const NumericsRequest& request,
                                               const std::function<void(const std::string&)>& note) {
  const std::vector<NumericsSubject> arithmetics = arithmetics_of(options, request);
  const std::uint32_t radix = options.radix.value_or(8);
  std::vector<NumericsSubject> subjects;
  bool engines = false;
  for (const Algorithm* algorithm : algorithms_for(options, request, note)) {
    const bool has_engines = algorithm->engine != Engine::none;
    engines = engines || has_engines;
    for (const NumericsSubject& arithmetic : arithmetics) {
      if (!has_engines && &arithmetic != arithmetics.data()) { continue; }
      subjects.push_back(has_engines ? arithmetic : NumericsSubject{});
      subjects.back().algorithm = algorithm;
      subjects.back().trees = trees_of(algorithm->engine, request, radix);
    }
  }
  for (const auto& [given, option] :
       {std::pair(options.accumulators.has_value(), "accumulator"), std::pair(options.orders.has_value(), "order"),
        std::pair(options.fixed_point, "fixed-point"), std::pair(options.radix.has_value(), "radix")}) {
    if (engines || !given) { continue; }
    throw UsageError(
        fmt::format("{}: --{} is for engines, and none of these algorithms has any; `athanor list "
                    "algorithms` tells which have",
                    kName, option));
  }
  add_quantized(options, request, subjects);
  return subjects;
}

}  // namespace athanor
