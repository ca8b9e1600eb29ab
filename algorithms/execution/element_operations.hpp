#pragma once

#include <type_traits>

// What combines two values: on processors (elements.cpp), in engines (engine_reducer.cpp) and on GPUs
// (cuda/arithmetic.cuh, which some compilers of CUDA read as C++17; `constexpr` lets device code call it).
namespace athanor {

/// Integers are added and multiplied without sign, where they wrap.
template <class Value, bool integer = std::is_integral_v<Value>>
struct Wrapping {
  using Type = Value;
};
template <class Value>
struct Wrapping<Value, true> {
  using Type = std::make_unsigned_t<Value>;
};

struct Adding {
  template <class Value>
  [[gnu::always_inline]] static constexpr Value apply(Value left, Value right) {
    using Type = typename Wrapping<Value>::Type;
    return static_cast<Value>(static_cast<Type>(left) + static_cast<Type>(right));
  }
};

struct Multiplying {
  template <class Value>
  [[gnu::always_inline]] static constexpr Value apply(Value left, Value right) {
    using Type = typename Wrapping<Value>::Type;
    return static_cast<Value>(static_cast<Type>(left) * static_cast<Type>(right));
  }
};

struct TakingMinimum {
  template <class Value>
  [[gnu::always_inline]] static constexpr Value apply(Value left, Value right) {
    return right < left ? right : left;
  }
};

struct TakingMaximum {
  template <class Value>
  [[gnu::always_inline]] static constexpr Value apply(Value left, Value right) {
    return left < right ? right : left;
  }
};

}  // namespace athanor
