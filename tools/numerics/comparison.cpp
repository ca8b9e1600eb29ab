#include "tools/numerics/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/core.h>

#include "algorithms/execution/element_values.hpp"
#include "algorithms/execution/fixed_point.hpp"
#include "algorithms/execution/quantized/quantized_all_reduce.hpp"
#include "algorithms/execution/threads/threads.hpp"
#include "algorithms/schedule/contract.hpp"

namespace athanor {

namespace {

/// The low bits of a sum as a number of the type.
double wrapped(DataType type, std::uint64_t sum) {
  switch (type) {
    case DataType::int8: return static_cast<std::int8_t>(sum);
    case DataType::int32: return static_cast<std::int32_t>(sum);
    case DataType::float32:
    case DataType::float64:
    case DataType::float16:
    case DataType::bfloat16:
    case DataType::int64: break;
  }
  return static_cast<double>(static_cast<std::int64_t>(sum));
}

/// Of many elements, one after the other.
class ErrorCount {
 public:
  /// `exact`: the sum to within a double; `unit`: the type's spacing there.
  void add(double error, double exact, double unit) {
    error = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::fabs(error);
    ++elements_;
    statistics_.greatest_absolute = std::max(statistics_.greatest_absolute, error);
    statistics_.mean_absolute += error;
    statistics_.greatest_ulp = std::max(statistics_.greatest_ulp, error / unit);
    statistics_.mean_ulp += error / unit;
    statistics_.correctly_rounded += error <= unit / 2 ? 1 : 0;
    if (exact == 0) { return; }
    ++not_zero_;
    statistics_.greatest_relative = std::max(statistics_.greatest_relative, error / std::fabs(exact));
    statistics_.mean_relative += error / std::fabs(exact);
  }

  ErrorStatistics statistics() const {
    ErrorStatistics result = statistics_;
    const double elements = std::max(1.0, elements_);
    for (double* mean : {&result.mean_absolute, &result.mean_ulp, &result.correctly_rounded}) { *mean /= elements; }
    result.mean_relative /= std::max(1.0, not_zero_);
    return result;
  }

 private:
  ErrorStatistics statistics_;  ///< with sums in place of means
  double elements_ = 0;
  double not_zero_ = 0;
};

}  // namespace

std::string algorithm_of(const NumericsSubject& subject) {
  return subject.quantized ? "pairwise, then ring" : subject.algorithm->name;
}

std::string arithmetic_of(const NumericsSubject& subject) {
  if (subject.quantized) {
    return fmt::format("{}, blocks of {}", name(subject.quantized->number), subject.quantized->block);
  }
  if (subject.algorithm->engine == Engine::none) { return "ranks"; }
  std::string text = subject.block ? "engines, int32" : fmt::format("engines, {}", name(subject.engines.accumulator));
  if (subject.engines.order == SummationOrder::arrival) { text += ", arrival"; }
  return text;
}

NumericsComparison::NumericsComparison(const NumericsRequest& request)
    : request_(request),
      size_(element_size(request.type)),
      count_(static_cast<std::size_t>(request.collective.count.count())) {
  const std::uint32_t ranks = request.collective.ranks;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    inputs_.push_back(drawn_elements(request.distribution, request.type, request.seed, rank, ranks, count_));
  }
  add_exactly();
}

void NumericsComparison::add_exactly() {
  for (std::size_t i = 0; i < count_; ++i) {
    exact_.push_back(is_floating_point(request_.type) ? exact_sum(i) : wrapped_sum(i));
  }
}

NumericsComparison::Exact NumericsComparison::exact_sum(std::size_t element) const {
  ExactSum sum;
  for (const Memory& input : inputs_) { sum.add(element_value(request_.type, &input[element * size_])); }
  const double upper = sum.rounded();
  sum.add(-upper);
  return {upper, sum.rounded()};
}

NumericsComparison::Exact NumericsComparison::wrapped_sum(std::size_t element) const {
  std::uint64_t sum = 0;
  for (const Memory& input : inputs_) {
    sum += static_cast<std::uint64_t>(static_cast<std::int64_t>(element_value(request_.type, &input[element * size_])));
  }
  return {wrapped(request_.type, sum), 0};
}

NumericsComparison::Outcome NumericsComparison::carry_out(const Schedule& schedule, const NumericsSubject& subject,
                                                          std::uint32_t repetition) const {
  const RankMemory memory(schedule, request_.type);
  for (std::size_t rank = 0; rank < inputs_.size(); ++rank) {
    const RankBuffers& buffers = memory.buffers()[rank];
    std::fill(buffers.output.begin(), buffers.output.end(), std::byte{0x5A});
    std::copy(inputs_[rank].begin(), inputs_[rank].end(), buffers.input.begin());
  }
  ExecutionRequest execution{
      .type = request_.type, .buffers = memory.buffers(), .workers = {}, .slots = {}, .engines = subject.engines};
  execution.engines.seed = request_.seed + repetition;
  if (subject.block) {
    run_in_fixed_point(schedule, request_.collective, execution, *subject.block);
  } else {
    run_on_threads(schedule, execution);
  }
  const Contract contract(request_.collective);
  Outcome outcome{std::vector<Memory>(inputs_.size()), {}};
  for (std::uint32_t rank = 0; rank < inputs_.size(); ++rank) {
    const std::span<const std::byte> output = memory.buffers()[rank].output;
    if (contract.promises(rank)) { outcome.results[rank].assign(output.begin(), output.end()); }
  }
  outcome.ranks_equal = equal_of_ranks(outcome.results);
  return outcome;
}

/// Only an all-reduce gives an element to several ranks.
std::optional<bool> NumericsComparison::equal_of_ranks(const std::vector<Memory>& results) const {
  if (request_.collective.kind != CollectiveKind::all_reduce || results.size() == 1) { return std::nullopt; }
  return std::all_of(results.begin(), results.end(), [&](const Memory& each) { return each == results[0]; });
}

ErrorStatistics NumericsComparison::errors(const Outcome& outcome) const {
  const Contract contract(request_.collective);
  const std::size_t ranks = outcome.ranks_equal.value_or(false) ? 1 : outcome.results.size();
  ErrorCount count;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (!contract.promises(rank)) { continue; }
    for (const Promise& promise : contract.promised(rank)) {
      for (std::int64_t k = 0; k < promise.count.count(); ++k) {
        const auto at = static_cast<std::size_t>(promise.first.count() + k);
        const Exact& exact = exact_[static_cast<std::size_t>(promise.from.count() + k)];
        const double result = element_value(request_.type, &outcome.results[rank][at * size_]);
        count.add(result - exact.upper - exact.lower, exact.upper, spacing(request_.type, exact.upper));
      }
    }
  }
  return count.statistics();
}

std::size_t NumericsComparison::number_of(const Outcome& outcome) {
  Memory result = outcome.results[0];
  if (!outcome.ranks_equal.value_or(false)) {
    for (std::size_t rank = 1; rank < outcome.results.size(); ++rank) {
      result.insert(result.end(), outcome.results[rank].begin(), outcome.results[rank].end());
    }
  }
  const auto known = std::find(known_.begin(), known_.end(), result);
  const auto number = static_cast<std::size_t>(known - known_.begin());
  if (known == known_.end()) { known_.push_back(std::move(result)); }
  return number;
}

std::vector<std::vector<float>> NumericsComparison::numbers() const {
  std::vector<std::vector<float>> all(inputs_.size(), std::vector<float>(count_));
  for (std::size_t rank = 0; rank < inputs_.size(); ++rank) {
    std::memcpy(all[rank].data(), inputs_[rank].data(), inputs_[rank].size());
  }
  return all;
}

NumericsComparison::Outcome NumericsComparison::add_quantized(const QuantizedFormat& format) const {
  const std::vector<std::vector<float>> inputs = numbers();
  std::vector<QuantizedRank> ranks;
  for (std::uint32_t rank = 0; rank < inputs.size(); ++rank) {
    ranks.emplace_back(format, static_cast<std::uint32_t>(inputs.size()), rank, count_);
  }
  std::vector<std::vector<float>> outputs(inputs.size(), std::vector<float>(count_));
  quantized_all_reduce(ranks, inputs, outputs);
  Outcome outcome{std::vector<Memory>(inputs.size(), Memory(count_ * size_)), {}};
  for (std::size_t rank = 0; rank < inputs.size(); ++rank) {
    std::memcpy(outcome.results[rank].data(), outputs[rank].data(), outcome.results[rank].size());
  }
  outcome.ranks_equal = equal_of_ranks(outcome.results);
  return outcome;
}

ErrorBound NumericsComparison::bound_of(const QuantizedFormat& format, const Outcome& outcome) const {
  const std::vector<double> bounds = quantized_error_bound(format, numbers());
  ErrorBound bound;
  for (std::size_t i = 0; i < count_; ++i) {
    const double result = element_value(request_.type, &outcome.results[0][i * size_]);
    const double error = std::fabs(result - exact_[i].upper - exact_[i].lower);
    bound.greatest = std::max(bound.greatest, bounds[i]);
    if (bounds[i] > 0) { bound.used = std::max(bound.used, error / bounds[i]); }
  }
  return bound;
}

NumericsRow NumericsComparison::run_quantized(const NumericsSubject& subject) {
  const Outcome outcome = add_quantized(*subject.quantized);
  NumericsRow row{subject, errors(outcome), outcome.ranks_equal};
  for (std::uint32_t repetition = 1; repetition < request_.repetitions; ++repetition) {
    row.runs_equal = row.runs_equal && add_quantized(*subject.quantized).results == outcome.results;
  }
  row.bound = bound_of(*subject.quantized, outcome);
  row.bits = number_of(outcome);
  return row;
}

NumericsRow NumericsComparison::run(const NumericsSubject& subject) {
  if (subject.quantized) { return run_quantized(subject); }
  Layout layout = request_.layout;
  layout.shape = EngineTreeShape{.trees = subject.trees};
  const auto schedule = subject.algorithm->make(request_.collective, layout);
  const Outcome outcome = carry_out(*schedule, subject, 0);
  NumericsRow row{subject, errors(outcome), outcome.ranks_equal};
  for (std::uint32_t repetition = 1; repetition < request_.repetitions; ++repetition) {
    row.runs_equal = row.runs_equal && carry_out(*schedule, subject, repetition).results == outcome.results;
  }
  row.bits = number_of(outcome);
  return row;
}

}  // namespace athanor
