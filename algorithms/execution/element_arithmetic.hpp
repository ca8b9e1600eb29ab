#pragma once

#include <cstdint>
#include <type_traits>

#include "algorithms/execution/element_operations.hpp"
#include "algorithms/execution/half_precision.hpp"

// What is done to single elements: by the vectorised kernels of ranks (elements.cpp) and by engines
// (engine_reducer.cpp), to the same bits.
namespace athanor {

/// The type in which elements are combined, and the way there and back.
template <class Element>
struct ElementArithmetic {
  using Value = Element;
  [[gnu::always_inline]] static Value load(Element element) { return element; }
  [[gnu::always_inline]] static Element store(Value value) { return value; }
};

template <>
struct ElementArithmetic<Float16> {
  using Value = float;
  [[gnu::always_inline]] static float load(Float16 element) { return widen(element); }
  [[gnu::always_inline]] static Float16 store(float value) { return narrow_to_float16(value); }
};

template <>
struct ElementArithmetic<BFloat16> {
  using Value = float;
  [[gnu::always_inline]] static float load(BFloat16 element) { return widen(element); }
  [[gnu::always_inline]] static BFloat16 store(float value) { return narrow_to_bfloat16(value); }
};

template <class Element, class Operation>
[[gnu::always_inline]] inline Element combine(Element left, Element right) {
  using Arithmetic = ElementArithmetic<Element>;
  return Arithmetic::store(Operation::apply(Arithmetic::load(left), Arithmetic::load(right)));
}

/// What finishes an average.
template <class Element>
struct ElementDivision {
  using Arithmetic = ElementArithmetic<Element>;
  using Value = typename Arithmetic::Value;
  /// Wide enough for the number of ranks: an int8 is divided as an int64.
  using Divided = std::conditional_t<std::is_integral_v<Value>, std::int64_t, Value>;

  [[gnu::always_inline]] static Element divide(Element element, Divided divisor) {
    return Arithmetic::store(static_cast<Value>(static_cast<Divided>(Arithmetic::load(element)) / divisor));
  }
};

}  // namespace athanor
