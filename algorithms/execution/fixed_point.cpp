#include "algorithms/execution/fixed_point.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/core.h>

#include "algorithms/execution/element_values.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

/// Of a block that holds nothing but zeros.
constexpr int kNothing = std::numeric_limits<int>::min();

}  // namespace

FixedPoint::FixedPoint(const Collective& collective, DataType type, Reduction reduction, Elements block)
    : collective_(collective),
      type_(type),
      size_(element_size(type)),
      divisor_(reduction == Reduction::average ? collective.ranks : 1),
      block_(block),
      limit_(static_cast<std::int32_t>(std::numeric_limits<std::int32_t>::max() / std::int64_t{collective.ranks})) {
  require(!refusal(collective, type, reduction), "fixed point for {} of {}", name(reduction), name(type));
  require(block > Elements::zero(), "blocks of {} elements", block.count());
  exponents_.assign(static_cast<std::size_t>((collective.count.count() + block.count() - 1) / block.count()), kNothing);
}

std::optional<std::string> FixedPoint::refusal(const Collective& collective, DataType type, Reduction reduction) {
  if (!is_floating_point(type)) {
    return fmt::format("{} needs no fixed point: engines add it as what it is", name(type));
  }
  if (reduction != Reduction::sum && reduction != Reduction::average) {
    return fmt::format("a {} is not computed in fixed point, only sum and average", name(reduction));
  }
  if (!Contract(collective).finished()) { return fmt::format("nothing is added up in {}", name(collective.kind)); }
  if (collective.ranks > std::numeric_limits<std::int32_t>::max()) { return "so many ranks leave no bits"; }
  return std::nullopt;
}

void FixedPoint::agree(std::uint32_t rank, std::span<const std::byte> input) {
  const auto count = static_cast<std::int64_t>(input.size() / size_);
  require(count == collective_.count.count(), "{} elements of {}", count, collective_.count.count());
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = element_value(type_, &input[static_cast<std::size_t>(i) * size_]);
    if (value == 0) { continue; }
    if (!std::isfinite(value)) {
      throw SimulationError("fixed-point",
                            fmt::format("element {} of rank {} is {}, which no fixed point holds", i, rank, value));
    }
    int exponent = 0;
    std::frexp(value, &exponent);
    int& agreed = exponents_[static_cast<std::size_t>(i / block_.count())];
    agreed = std::max(agreed, exponent);
  }
}

void FixedPoint::encode(std::span<const std::byte> input, std::span<std::byte> integers) const {
  for (std::size_t i = 0; i < input.size() / size_; ++i) {
    const int exponent = this->exponent(static_cast<std::int64_t>(i));
    std::int32_t integer = 0;
    if (exponent != kNothing) {
      integer = static_cast<std::int32_t>(
          std::nearbyint(std::ldexp(element_value(type_, &input[i * size_]), -exponent) * limit_));
    }
    std::memcpy(&integers[i * sizeof(integer)], &integer, sizeof(integer));
  }
}

void FixedPoint::decode(std::uint32_t rank, std::span<const std::byte> integers, std::span<std::byte> output) const {
  const Contract contract(collective_);
  if (!contract.promises(rank)) { return; }
  for (const Promise& promise : contract.promised(rank)) {
    for (std::int64_t k = 0; k < promise.count.count(); ++k) {
      const auto i = static_cast<std::size_t>(promise.first.count() + k);
      const int exponent = this->exponent(promise.from.count() + k);
      std::int32_t integer = 0;
      std::memcpy(&integer, &integers[i * sizeof(integer)], sizeof(integer));
      const double sum = exponent == kNothing ? 0 : std::ldexp(static_cast<double>(integer) / limit_, exponent);
      put_element(type_, &output[i * size_], sum / divisor_);
    }
  }
}

ExecutionResult run_in_fixed_point(const Schedule& schedule, const Collective& collective,
                                   const ExecutionRequest& request, Elements block) {
  const std::vector<RankBuffers>& buffers = request.buffers;
  FixedPoint fixed_point(collective, request.type, request.reduction, block);
  for (std::uint32_t rank = 0; rank < buffers.size(); ++rank) { fixed_point.agree(rank, buffers[rank].input); }
  const RankMemory integers(schedule, DataType::int32);
  for (std::uint32_t rank = 0; rank < buffers.size(); ++rank) {
    fixed_point.encode(buffers[rank].input, integers.buffers()[rank].input);
  }
  ExecutionRequest added = request;
  added.type = DataType::int32;
  added.reduction = Reduction::sum;
  added.buffers = integers.buffers();
  added.engines.accumulator = Accumulator::data;
  const ExecutionResult result = run_on_threads(schedule, added);
  for (std::uint32_t rank = 0; rank < buffers.size(); ++rank) {
    fixed_point.decode(rank, integers.buffers()[rank].output, buffers[rank].output);
  }
  return result;
}

}  // namespace athanor
