#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "algorithms/execution/engine_arithmetic.hpp"
#include "algorithms/execution/strided.hpp"
#include "algorithms/schedule/reduction.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// A primitive of an execution: what orders of arrival are drawn for.
struct PrimitivePlace {
  AgentId agent;
  LaneId lane;
  std::uint64_t index = 0;  ///< counted over all loops of the lane
};

/// What engines do in place of apply(). Thread-safe.
class EngineReducer {
 public:
  /// Requires that refusal() has no objection.
  EngineReducer(const EngineArithmetic& arithmetic, DataType type, Reduction reduction, std::uint32_t ranks);

  /// As apply(); the first `operands` of the sources are local, the others messages in port order.
  void apply(const PrimitivePlace& place, std::size_t operands, std::span<const Source> sources,
             std::span<const Target> targets, Elements count, bool finish) const;

 private:
  /// At most kPacketElements; divides by `divisor` unless that is 0. `to` may be one of `from`.
  using Fold = void (*)(std::byte* to, std::span<const std::byte* const> from, std::size_t count,
                        std::uint32_t divisor);

  EngineArithmetic arithmetic_;
  Fold fold_ = nullptr;
  std::int64_t size_ = 0;  ///< bytes of one element
  std::uint32_t divisor_ = 0;
};

/// None where engines do as ranks do. Throws UsageError where refusal() has an objection.
std::optional<EngineReducer> engine_reducer(const EngineArithmetic& arithmetic, DataType type, Reduction reduction,
                                            std::uint32_t ranks);

}  // namespace athanor
