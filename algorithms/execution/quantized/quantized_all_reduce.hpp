#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "algorithms/execution/quantized/quantized_numbers.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// One rank's part in an all-reduce of quantised float32 (Tang et al. 2021, "1-bit Adam", section 7, for any format;
/// DeepSpeed's compressed_allreduce): rank r owns the r-th part of the vector, ceil(count / ranks) numbers, the last
/// ones filled up with zeros. Each rank quantises all parts and sends each to its owner (all-to-all); owners add up in
/// float32, in the order of ranks, quantise their sums and send them to all (all-gather). Every number is quantised
/// twice, and all ranks get the same bits.
class QuantizedRank {
 public:
  /// `feeds_back`: what quantising lost is added to what is quantised the next time, of inputs and of sums.
  QuantizedRank(const QuantizedFormat& format, std::uint32_t ranks, std::uint32_t rank, std::size_t count,
                bool feeds_back = false);

  /// Of each part.
  std::size_t part_bytes() const { return part_bytes_; }
  /// What the all-to-all sends: ranks x part_bytes().
  void begin(std::span<const float> input, std::span<std::byte> parts);
  /// From what it receives, as much, to what the all-gather sends: part_bytes().
  void add_up(std::span<const std::byte> parts, std::span<std::byte> sum);
  /// From what that receives, ranks x part_bytes().
  void end(std::span<const std::byte> sums, std::span<float> output) const;

 private:
  /// Quantises numbers[i] + left[i], and leaves in `left` what is lost.
  void code(std::vector<float> numbers, std::span<float> left, std::span<std::byte> coded) const;

  QuantizedFormat format_;
  std::uint32_t ranks_;
  std::size_t count_;
  std::size_t part_;
  std::size_t part_bytes_;
  std::vector<float> left_;         ///< of this rank's numbers; empty: nothing is fed back
  std::vector<float> left_of_sum_;  ///< of its part of the sum
};

/// How coded parts travel: pairwise, then in a ring, in bytes.
struct QuantizedExchange {
  std::unique_ptr<const Schedule> to_owners;
  std::unique_ptr<const Schedule> to_all;
};
QuantizedExchange quantized_exchange(std::uint32_t ranks, std::size_t part_bytes);

/// All ranks at once, by worker threads: rank r's numbers inputs[r] to outputs[r]. Requires as many numbers of each.
void quantized_all_reduce(std::vector<QuantizedRank>& ranks, const std::vector<std::vector<float>>& inputs,
                          std::vector<std::vector<float>>& outputs);

/// How far each number may be off. In a block let A_r be the largest magnitude of rank r, S of the exact sum and h
/// half_step(): then |error| <= E + h (S + E) with E = h (A_0 + A_1 + ...), half a step of each of the P + 1 scales;
/// and P 2^-15 of it more for roundings to float32. Of the first all-reduce; requires inputs of one size.
std::vector<double> quantized_error_bound(const QuantizedFormat& format, const std::vector<std::vector<float>>& inputs);

}  // namespace athanor
