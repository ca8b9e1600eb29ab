#include "algorithms/execution/engine_arithmetic.hpp"

#include <array>

#include <fmt/core.h>

namespace athanor {

std::string_view name(Accumulator accumulator) {
  switch (accumulator) {
    case Accumulator::data: return "data";
    case Accumulator::float32: return "float32";
    case Accumulator::float64: return "float64";
  }
  return "";
}

std::string_view name(SummationOrder order) {
  switch (order) {
    case SummationOrder::ports: return "ports";
    case SummationOrder::arrival: return "arrival";
  }
  return "";
}

std::span<const Accumulator> accumulators() {
  static constexpr std::array all{Accumulator::data, Accumulator::float32, Accumulator::float64};
  return all;
}

std::span<const SummationOrder> summation_orders() {
  static constexpr std::array all{SummationOrder::ports, SummationOrder::arrival};
  return all;
}

std::optional<std::string> refusal(const EngineArithmetic& arithmetic, DataType type) {
  const Accumulator accumulator = arithmetic.accumulator;
  if (accumulator == Accumulator::data) { return std::nullopt; }
  if (!is_floating_point(type)) {
    return fmt::format("{} is added as what it is, not in {}; use the accumulator data", name(type), name(accumulator));
  }
  if (accumulator == Accumulator::float32 && type == DataType::float64) {
    return "float64 does not fit into a float32 accumulator; use data or float64";
  }
  return std::nullopt;
}

}  // namespace athanor
