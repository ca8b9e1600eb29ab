#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "algorithms/execution/engine_arithmetic.hpp"
#include "algorithms/execution/threads/threads.hpp"
#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/reduction.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

using Numbers = std::vector<double>;

/// `count` numbers for each rank: (1 + u) * 2^k with u uniform in [0, 1) and k uniform in [least, most], of either sign
/// where `both_signs`, rounded to the type.
std::vector<Numbers> drawn_numbers(DataType type, std::uint32_t ranks, std::size_t count, int least, int most,
                                   bool both_signs, std::string_view name);

/// What the ranks' outputs are and how they came about.
class RealSums {
 public:
  /// Runs an all-reduce of the inputs on threads.
  RealSums(const Schedule& schedule, DataType type, const std::vector<Numbers>& inputs, EngineArithmetic engines = {},
           Reduction reduction = Reduction::sum, std::uint32_t workers = 2);
  /// The same in fixed point.
  RealSums(const Schedule& schedule, const Collective& collective, DataType type, const std::vector<Numbers>& inputs,
           Elements block, EngineArithmetic engines = {}, Reduction reduction = Reduction::sum);

  const Numbers& of(std::uint32_t rank) const { return outputs_[rank]; }
  /// As they stand in memory, of all ranks.
  const std::vector<std::vector<std::byte>>& bits() const { return bits_; }

 private:
  void take(const RankMemory& memory, DataType type);

  std::vector<Numbers> outputs_;
  std::vector<std::vector<std::byte>> bits_;
};

/// Without any rounding but the last, to double.
Numbers exact_sums(const std::vector<Numbers>& inputs);

/// All-reduce by a tree of `arity` children a node.
std::unique_ptr<const Schedule> tree_of(std::uint32_t ranks, std::uint32_t arity, std::size_t count,
                                        std::uint32_t channels = 1);
std::unique_ptr<const Schedule> all_reduce_by(std::string_view algorithm, std::uint32_t ranks, std::size_t count);

/// The greatest |result / exact - 1|.
double greatest_relative_error(const Numbers& results, const Numbers& exact);
/// The greatest |result - exact| in units of the type's last place at the exact sum.
double greatest_error_in_ulp(DataType type, const Numbers& results, const Numbers& exact);

}  // namespace athanor
