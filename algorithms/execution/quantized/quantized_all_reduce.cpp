#include "algorithms/execution/quantized/quantized_all_reduce.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/catalog.hpp"
#include "algorithms/execution/rank_memory.hpp"
#include "algorithms/execution/threads/threads.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

std::size_t part_of(std::size_t count, std::size_t ranks) { return (count + ranks - 1) / ranks; }

Collective in_bytes(CollectiveKind kind, std::uint32_t ranks, std::size_t part_bytes) {
  return {kind, ranks, Elements{static_cast<std::int64_t>(part_bytes * ranks)}};
}

double magnitude(float number) { return std::fabs(static_cast<double>(number)); }

/// Of numbers [first, last), as a share of which they are off.
double bound_of_block(const std::vector<std::vector<float>>& inputs, std::size_t first, std::size_t last, double half) {
  double all = 0;
  for (const std::vector<float>& input : inputs) {
    double largest = 0;
    for (std::size_t i = first; i < last; ++i) { largest = std::max(largest, magnitude(input[i])); }
    all += largest;
  }
  double sum = 0;
  for (std::size_t i = first; i < last; ++i) {
    double exact = 0;
    for (const std::vector<float>& input : inputs) { exact += static_cast<double>(input[i]); }
    sum = std::max(sum, std::fabs(exact));
  }
  const double once = half * all;
  return (once + half * (sum + once)) * (1 + std::ldexp(static_cast<double>(inputs.size()), -15));
}

}  // namespace

QuantizedRank::QuantizedRank(const QuantizedFormat& format, std::uint32_t ranks, std::uint32_t rank, std::size_t count,
                             bool feeds_back)
    : format_(format),
      ranks_(ranks),
      count_(count),
      part_(part_of(count, ranks)),
      part_bytes_(quantized_size(format, part_)) {
  require(rank < ranks, "rank {} of {}", rank, ranks);
  if (!feeds_back) { return; }
  left_.resize(part_ * ranks);
  left_of_sum_.resize(part_);
}

void QuantizedRank::code(std::vector<float> numbers, std::span<float> left, std::span<std::byte> coded) const {
  for (std::size_t i = 0; i < left.size(); ++i) { numbers[i] += left[i]; }
  quantize(format_, numbers, coded);
  if (left.empty()) { return; }
  dequantize(format_, coded, left);
  for (std::size_t i = 0; i < left.size(); ++i) { left[i] = numbers[i] - left[i]; }
}

void QuantizedRank::begin(std::span<const float> input, std::span<std::byte> parts) {
  require(input.size() == count_ && parts.size() == ranks_ * part_bytes_, "{} numbers in {} bytes", input.size(),
          parts.size());
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    std::vector<float> own(part_);
    const std::size_t first = std::min(rank * part_, count_);
    const std::size_t last = std::min(first + part_, count_);
    std::copy(input.begin() + static_cast<std::ptrdiff_t>(first), input.begin() + static_cast<std::ptrdiff_t>(last),
              own.begin());
    const auto left = left_.empty() ? std::span<float>() : std::span(left_).subspan(rank * part_, part_);
    code(std::move(own), left, parts.subspan(rank * part_bytes_, part_bytes_));
  }
}

void QuantizedRank::add_up(std::span<const std::byte> parts, std::span<std::byte> sum) {
  std::vector<float> numbers(part_);
  std::vector<float> of_rank(part_);
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    dequantize(format_, parts.subspan(rank * part_bytes_, part_bytes_), of_rank);
    for (std::size_t i = 0; i < part_; ++i) { numbers[i] += of_rank[i]; }
  }
  code(std::move(numbers), left_of_sum_, sum);
}

void QuantizedRank::end(std::span<const std::byte> sums, std::span<float> output) const {
  std::vector<float> numbers(part_);
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    dequantize(format_, sums.subspan(rank * part_bytes_, part_bytes_), numbers);
    const std::size_t first = std::min(rank * part_, count_);
    const std::size_t size = std::min(part_, count_ - first);
    std::copy_n(numbers.begin(), size, output.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

QuantizedExchange quantized_exchange(std::uint32_t ranks, std::size_t part_bytes) {
  using Kind = CollectiveKind;
  return {find(Kind::all_to_all, "pairwise").make(in_bytes(Kind::all_to_all, ranks, part_bytes), {}),
          find(Kind::all_gather, "ring").make(in_bytes(Kind::all_gather, ranks, part_bytes), {})};
}

void quantized_all_reduce(std::vector<QuantizedRank>& ranks, const std::vector<std::vector<float>>& inputs,
                          std::vector<std::vector<float>>& outputs) {
  require(!ranks.empty() && inputs.size() == ranks.size() && outputs.size() == ranks.size(), "{} ranks, {} inputs",
          ranks.size(), inputs.size());
  const QuantizedExchange exchange =
      quantized_exchange(static_cast<std::uint32_t>(ranks.size()), ranks.front().part_bytes());
  const RankMemory parts(*exchange.to_owners, DataType::int8);
  const RankMemory sums(*exchange.to_all, DataType::int8);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    ranks[rank].begin(inputs[rank], parts.buffers()[rank].input);
  }
  run_on_threads(*exchange.to_owners, {.type = DataType::int8, .buffers = parts.buffers(), .workers = {}, .slots = {}});
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    ranks[rank].add_up(parts.buffers()[rank].output, sums.buffers()[rank].input);
  }
  run_on_threads(*exchange.to_all, {.type = DataType::int8, .buffers = sums.buffers(), .workers = {}, .slots = {}});
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    ranks[rank].end(sums.buffers()[rank].output, outputs[rank]);
  }
}

std::vector<double> quantized_error_bound(const QuantizedFormat& format,
                                          const std::vector<std::vector<float>>& inputs) {
  const std::size_t count = inputs.front().size();
  const std::size_t part = part_of(count, inputs.size());
  std::vector<double> bounds(count);
  for (std::size_t begin = 0; begin < count; begin += part) {
    for (std::size_t first = begin; first < std::min(begin + part, count); first += format.block) {
      const std::size_t last = std::min({first + format.block, begin + part, count});
      const double bound = bound_of_block(inputs, first, last, half_step(format.number));
      std::fill(bounds.begin() + static_cast<std::ptrdiff_t>(first), bounds.begin() + static_cast<std::ptrdiff_t>(last),
                bound);
    }
  }
  return bounds;
}

}  // namespace athanor
