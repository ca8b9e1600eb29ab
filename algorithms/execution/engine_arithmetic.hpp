#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "algorithms/schedule/reduction.hpp"

namespace athanor {

/// In which an engine holds the result of one primitive while it takes in one input after the other.
enum class Accumulator : std::uint8_t {
  data,     ///< in the type of the elements: each operation rounds
  float32,  ///< rounded to the elements' type once, when all inputs are in
  float64,
};

/// In which order an engine takes in the messages of one primitive.
enum class SummationOrder : std::uint8_t {
  ports,    ///< that of its ports: the same bits in every run
  arrival,  ///< as packets come; drawn anew for each packet of kPacketElements
};

/// How engine agents (those beyond the ranks) combine what a primitive takes in. Ranks fold in port order and in the
/// elements' type, and so do engines unless something else is asked of them. Local operands come before messages.
///
/// A wide accumulator begins and ends with its primitive: what an engine sends to the next one is of the elements'
/// type.
struct EngineArithmetic {
  static constexpr std::int64_t kPacketElements = 256;

  Accumulator accumulator = Accumulator::data;
  SummationOrder order = SummationOrder::ports;
  std::uint64_t seed = 0;  ///< of the order of arrival: the same seed, the same bits, whoever executes it

  bool operator==(const EngineArithmetic&) const = default;
};

/// "data", "float32", "float64"; "ports", "arrival".
std::string_view name(Accumulator accumulator);
std::string_view name(SummationOrder order);
/// All of them, in the order of their declaration.
std::span<const Accumulator> accumulators();
std::span<const SummationOrder> summation_orders();

/// Why elements of this type cannot be accumulated so, in words for the user, or nothing: integers are added as what
/// they are, and no accumulator is narrower than the data.
std::optional<std::string> refusal(const EngineArithmetic& arithmetic, DataType type);

}  // namespace athanor
