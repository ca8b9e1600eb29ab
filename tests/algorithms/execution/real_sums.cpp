#include "tests/algorithms/execution/real_sums.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "algorithms/catalog.hpp"
#include "algorithms/execution/element_values.hpp"
#include "algorithms/execution/fixed_point.hpp"
#include "algorithms/schedule/aggregation_tree.hpp"
#include "sim/random.hpp"

namespace athanor {

namespace {

void fill(const RankMemory& memory, DataType type, const std::vector<Numbers>& inputs) {
  for (std::size_t rank = 0; rank < inputs.size(); ++rank) {
    const RankBuffers& buffers = memory.buffers()[rank];
    std::fill(buffers.output.begin(), buffers.output.end(), std::byte{0x5A});
    for (std::size_t i = 0; i < inputs[rank].size(); ++i) {
      put_element(type, &buffers.input[i * element_size(type)], inputs[rank][i]);
    }
  }
}

Collective all_reduce(std::uint32_t ranks, std::size_t count) {
  return {CollectiveKind::all_reduce, ranks, Elements{static_cast<std::int64_t>(count)}};
}

}  // namespace

std::vector<Numbers> drawn_numbers(DataType type, std::uint32_t ranks, std::size_t count, int least, int most,
                                   bool both_signs, std::string_view name) {
  std::vector<Numbers> numbers(ranks, Numbers(count));
  RandomStream random(1, name);
  std::byte element[8];
  for (Numbers& of_rank : numbers) {
    for (double& number : of_rank) {
      const double significand = 1 + static_cast<double>(random.bits() >> 12) * 0x1p-52;
      const int exponent = least + static_cast<int>(random.below(static_cast<std::uint64_t>(most - least + 1)));
      const double sign = both_signs && random.below(2) == 0 ? -1 : 1;
      put_element(type, element, sign * std::ldexp(significand, exponent));
      number = element_value(type, element);
    }
  }
  return numbers;
}

RealSums::RealSums(const Schedule& schedule, DataType type, const std::vector<Numbers>& inputs,
                   EngineArithmetic engines, Reduction reduction, std::uint32_t workers) {
  const RankMemory memory(schedule, type);
  fill(memory, type, inputs);
  run_on_threads(schedule, {.type = type,
                            .reduction = reduction,
                            .buffers = memory.buffers(),
                            .workers = workers,
                            .slots = {},
                            .engines = engines});
  take(memory, type);
}

RealSums::RealSums(const Schedule& schedule, const Collective& collective, DataType type,
                   const std::vector<Numbers>& inputs, Elements block, EngineArithmetic engines, Reduction reduction) {
  const RankMemory memory(schedule, type);
  fill(memory, type, inputs);
  run_in_fixed_point(schedule, collective,
                     {.type = type,
                      .reduction = reduction,
                      .buffers = memory.buffers(),
                      .workers = 2,
                      .slots = {},
                      .engines = engines},
                     block);
  take(memory, type);
}

void RealSums::take(const RankMemory& memory, DataType type) {
  for (const RankBuffers& buffers : memory.buffers()) {
    bits_.emplace_back(buffers.output.begin(), buffers.output.end());
    Numbers& output = outputs_.emplace_back();
    for (std::size_t at = 0; at < buffers.output.size(); at += element_size(type)) {
      output.push_back(element_value(type, &buffers.output[at]));
    }
  }
}

Numbers exact_sums(const std::vector<Numbers>& inputs) {
  Numbers sums;
  for (std::size_t i = 0; i < inputs[0].size(); ++i) {
    ExactSum sum;
    for (const Numbers& of_rank : inputs) { sum.add(of_rank[i]); }
    sums.push_back(sum.rounded());
  }
  return sums;
}

std::unique_ptr<const Schedule> tree_of(std::uint32_t ranks, std::uint32_t arity, std::size_t count,
                                        std::uint32_t channels) {
  const EngineTreeShape engines{
      .trees = {std::make_shared<const AggregationTree>(AggregationTree::regular(ranks, arity))}};
  const Layout layout{.channels = channels, .shape = engines};
  return find(CollectiveKind::all_reduce, "aggregation_tree").make(all_reduce(ranks, count), layout);
}

std::unique_ptr<const Schedule> all_reduce_by(std::string_view algorithm, std::uint32_t ranks, std::size_t count) {
  return find(CollectiveKind::all_reduce, algorithm).make(all_reduce(ranks, count), {});
}

double greatest_relative_error(const Numbers& results, const Numbers& exact) {
  double greatest = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    greatest = std::max(greatest, std::fabs(results[i] / exact[i] - 1));
  }
  return greatest;
}

double greatest_error_in_ulp(DataType type, const Numbers& results, const Numbers& exact) {
  double greatest = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    greatest = std::max(greatest, std::fabs(results[i] - exact[i]) / spacing(type, exact[i]));
  }
  return greatest;
}

}  // namespace athanor
