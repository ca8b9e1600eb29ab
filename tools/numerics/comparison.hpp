#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/catalog.hpp"
#include "algorithms/execution/engine_arithmetic.hpp"
#include "algorithms/execution/quantized/quantized_numbers.hpp"
#include "algorithms/execution/rank_memory.hpp"
#include "algorithms/schedule/reduction.hpp"
#include "tools/numerics/numbers.hpp"

namespace athanor {

/// What is added up.
struct NumericsRequest {
  Collective collective;  ///< an all-reduce, reduce or reduce-scatter
  Layout layout;
  DataType type = DataType::float32;
  NumberDistribution distribution = NumberDistribution::normal;
  std::uint64_t seed = 1;
  std::uint32_t repetitions = 3;  ///< at least 1; repetition i draws orders of arrival from seed + i
};

/// How it is added up.
struct NumericsSubject {
  const Algorithm* algorithm = nullptr;
  EngineArithmetic engines = {};                    ///< counts where the algorithm has engines
  std::optional<Elements> block = {};               ///< of fixed point; none: elements are added as what they are
  std::vector<Shared<AggregationTree>> trees = {};  ///< as in EngineTreeShape
  std::optional<QuantizedFormat> quantized = {};    ///< numbers on the way, by quantized_all_reduce()
};

/// As the algorithm is called; of quantised numbers those of both exchanges.
std::string algorithm_of(const NumericsSubject& subject);

/// "int8, blocks of 256", "ranks", "engines, float32", "engines, data, arrival", "engines, int32".
std::string arithmetic_of(const NumericsSubject& subject);

/// How far results are from the exact sum, over all elements of all ranks' results. Infinite where a result is.
struct ErrorStatistics {
  double greatest_absolute = 0;
  double mean_absolute = 0;
  double greatest_relative = 0;  ///< to the exact sum, where that is not 0
  double mean_relative = 0;
  double greatest_ulp = 0;  ///< in units of the type's last place at the exact sum
  double mean_ulp = 0;
  double correctly_rounded = 0;  ///< share of the elements that are off by half such a unit at most
};

/// How far quantised sums may be off.
struct ErrorBound {
  double greatest = 0;  ///< of all elements
  double used = 0;      ///< the greatest share of its bound by which an element is off
};

struct NumericsRow {
  NumericsSubject subject;
  ErrorStatistics errors;                ///< of the first repetition
  std::optional<bool> ranks_equal;       ///< to the bit; none where no element goes to two ranks
  bool runs_equal = true;                ///< all repetitions to the bit; one alone is
  std::optional<ErrorBound> bound = {};  ///< of quantised numbers
  std::size_t bits = 0;                  ///< rows with equal numbers have equal results, numbered as they appear
};

/// Runs the same sum in different ways, on threads, with the same inputs.
class NumericsComparison {
 public:
  /// Draws the inputs and adds them up exactly.
  explicit NumericsComparison(const NumericsRequest& request);

  /// Of quantised numbers requires an all-reduce of float32. Else requires an algorithm that does not refuse the
  /// collective, and an arithmetic that is not refused for the type.
  NumericsRow run(const NumericsSubject& subject);

 private:
  using Memory = std::vector<std::byte>;
  /// The exact sum of an element in two pieces, the second one below the last place of the first.
  struct Exact {
    double upper = 0;
    double lower = 0;
  };
  struct Outcome {
    std::vector<Memory> results;  ///< of each rank; empty where the collective promises none
    std::optional<bool> ranks_equal;
  };

  void add_exactly();
  Exact exact_sum(std::size_t element) const;
  Exact wrapped_sum(std::size_t element) const;
  /// As float32, of all ranks.
  std::vector<std::vector<float>> numbers() const;
  Outcome add_quantized(const QuantizedFormat& format) const;
  ErrorBound bound_of(const QuantizedFormat& format, const Outcome& outcome) const;
  NumericsRow run_quantized(const NumericsSubject& subject);
  Outcome carry_out(const Schedule& schedule, const NumericsSubject& subject, std::uint32_t repetition) const;
  std::optional<bool> equal_of_ranks(const std::vector<Memory>& results) const;
  ErrorStatistics errors(const Outcome& outcome) const;
  std::size_t number_of(const Outcome& outcome);

  NumericsRequest request_;
  std::size_t size_;
  std::size_t count_;
  std::vector<Memory> inputs_;
  std::vector<Exact> exact_;
  std::vector<Memory> known_;  ///< all different results so far: one rank's where all are equal
};

}  // namespace athanor
