#include "algorithms/execution/elements.hpp"

#include <type_traits>

#include "algorithms/execution/half_precision.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

/// The type in which elements are combined, and the way there and back.
template <class Element>
struct Arithmetic {
  using Value = Element;
  [[gnu::always_inline]] static Value load(Element element) { return element; }
  [[gnu::always_inline]] static Element store(Value value) { return value; }
};

template <>
struct Arithmetic<Float16> {
  using Value = float;
  [[gnu::always_inline]] static float load(Float16 element) { return widen(element); }
  [[gnu::always_inline]] static Float16 store(float value) { return narrow_to_float16(value); }
};

template <>
struct Arithmetic<BFloat16> {
  using Value = float;
  [[gnu::always_inline]] static float load(BFloat16 element) { return widen(element); }
  [[gnu::always_inline]] static BFloat16 store(float value) { return narrow_to_bfloat16(value); }
};

/// Integers are added and multiplied without sign, where they wrap.
template <class Value, bool integer = std::is_integral_v<Value>>
struct Wrapping {
  using Type = Value;
};
template <class Value>
struct Wrapping<Value, true> {
  using Type = std::make_unsigned_t<Value>;
};

struct Sum {
  template <class Value>
  [[gnu::always_inline]] static Value apply(Value left, Value right) {
    using Type = typename Wrapping<Value>::Type;
    return static_cast<Value>(static_cast<Type>(left) + static_cast<Type>(right));
  }
};

struct Product {
  template <class Value>
  [[gnu::always_inline]] static Value apply(Value left, Value right) {
    using Type = typename Wrapping<Value>::Type;
    return static_cast<Value>(static_cast<Type>(left) * static_cast<Type>(right));
  }
};

struct Minimum {
  template <class Value>
  [[gnu::always_inline]] static Value apply(Value left, Value right) {
    return right < left ? right : left;
  }
};

struct Maximum {
  template <class Value>
  [[gnu::always_inline]] static Value apply(Value left, Value right) {
    return left < right ? right : left;
  }
};

template <class Element, class Operation>
[[gnu::always_inline]] inline Element combine(Element left, Element right) {
  using Way = Arithmetic<Element>;
  return Way::store(Operation::apply(Way::load(left), Way::load(right)));
}

/// One loop per way in which the arrays may coincide, so that the compiler need not ask whether they overlap.
template <class Element, class Operation>
struct Reduce {
  [[gnu::always_inline]] static void into_left(Element* __restrict to, const Element* __restrict right,
                                               std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) { to[i] = combine<Element, Operation>(to[i], right[i]); }
  }
  [[gnu::always_inline]] static void into_right(Element* __restrict to, const Element* __restrict left,
                                                std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) { to[i] = combine<Element, Operation>(left[i], to[i]); }
  }
  [[gnu::always_inline]] static void apart(Element* __restrict to, const Element* __restrict left,
                                           const Element* __restrict right, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) { to[i] = combine<Element, Operation>(left[i], right[i]); }
  }
  [[gnu::always_inline]] static void run(void* to, const void* left, const void* right, std::size_t count) {
    auto* const target = static_cast<Element*>(to);
    const auto* const first = static_cast<const Element*>(left);
    const auto* const second = static_cast<const Element*>(right);
    if (to == left && to == right) {
      for (std::size_t i = 0; i < count; ++i) { target[i] = combine<Element, Operation>(target[i], target[i]); }
    } else if (to == left) {
      into_left(target, second, count);
    } else if (to == right) {
      into_right(target, first, count);
    } else {
      apart(target, first, second, count);
    }
  }
};

template <class Element>
struct Finish {
  using Way = Arithmetic<Element>;
  using Value = typename Way::Value;
  /// Wide enough for the number of ranks: an int8 is divided as an int64.
  using Divided = std::conditional_t<std::is_integral_v<Value>, std::int64_t, Value>;

  [[gnu::always_inline]] static Element divide(Element element, Divided divisor) {
    return Way::store(static_cast<Value>(static_cast<Divided>(Way::load(element)) / divisor));
  }
  [[gnu::always_inline]] static void in_place(Element* to, std::size_t count, Divided divisor) {
    for (std::size_t i = 0; i < count; ++i) { to[i] = divide(to[i], divisor); }
  }
  [[gnu::always_inline]] static void apart(Element* __restrict to, const Element* __restrict from, std::size_t count,
                                           Divided divisor) {
    for (std::size_t i = 0; i < count; ++i) { to[i] = divide(from[i], divisor); }
  }
  [[gnu::always_inline]] static void run(void* to, const void* from, std::size_t count, std::uint32_t ranks) {
    const auto divisor = static_cast<Divided>(ranks);
    if (to == from) { return in_place(static_cast<Element*>(to), count, divisor); }
    apart(static_cast<Element*>(to), static_cast<const Element*>(from), count, divisor);
  }
};

struct Baseline {
  template <class Element, class Operation>
  static void reduce(void* to, const void* left, const void* right, std::size_t count) {
    Reduce<Element, Operation>::run(to, left, right, count);
  }
  template <class Element>
  static void finish(void* to, const void* from, std::size_t count, std::uint32_t ranks) {
    Finish<Element>::run(to, from, count, ranks);
  }
};

// target_clones would do the same, but its resolvers run before the sanitizers are ready, and it takes no templates.
#if defined(__x86_64__)
struct Avx2 {
  template <class Element, class Operation>
  [[gnu::target("avx2")]] static void reduce(void* to, const void* left, const void* right, std::size_t count) {
    Reduce<Element, Operation>::run(to, left, right, count);
  }
  template <class Element>
  [[gnu::target("avx2")]] static void finish(void* to, const void* from, std::size_t count, std::uint32_t ranks) {
    Finish<Element>::run(to, from, count, ranks);
  }
};

struct Avx512 {
  template <class Element, class Operation>
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] static void reduce(void* to, const void* left,
                                                                           const void* right, std::size_t count) {
    Reduce<Element, Operation>::run(to, left, right, count);
  }
  template <class Element>
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] static void finish(void* to, const void* from,
                                                                           std::size_t count, std::uint32_t ranks) {
    Finish<Element>::run(to, from, count, ranks);
  }
};
#else
using Avx2 = Baseline;
using Avx512 = Baseline;
#endif

template <class Set, class Element>
ElementKernels kernels_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum: return {sizeof(Element), Set::template reduce<Element, Sum>, nullptr};
    case Reduction::product: return {sizeof(Element), Set::template reduce<Element, Product>, nullptr};
    case Reduction::minimum: return {sizeof(Element), Set::template reduce<Element, Minimum>, nullptr};
    case Reduction::maximum: return {sizeof(Element), Set::template reduce<Element, Maximum>, nullptr};
    case Reduction::average:
      return {sizeof(Element), Set::template reduce<Element, Sum>, Set::template finish<Element>};
  }
  return {};
}

template <class Set>
ElementKernels kernels_in(DataType type, Reduction reduction) {
  switch (type) {
    case DataType::float32: return kernels_of<Set, float>(reduction);
    case DataType::float64: return kernels_of<Set, double>(reduction);
    case DataType::float16: return kernels_of<Set, Float16>(reduction);
    case DataType::bfloat16: return kernels_of<Set, BFloat16>(reduction);
    case DataType::int8: return kernels_of<Set, std::int8_t>(reduction);
    case DataType::int32: return kernels_of<Set, std::int32_t>(reduction);
    case DataType::int64: return kernels_of<Set, std::int64_t>(reduction);
  }
  return {};
}

}  // namespace

InstructionSet instruction_set() {
#if defined(__x86_64__)
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx512) { return InstructionSet::avx512; }
  if (__builtin_cpu_supports("avx2")) { return InstructionSet::avx2; }
#endif
  return InstructionSet::baseline;
}

ElementKernels element_kernels(DataType type, Reduction reduction, InstructionSet set) {
  require(set <= instruction_set(), "kernels for instructions that this processor lacks");
  switch (set) {
    case InstructionSet::baseline: return kernels_in<Baseline>(type, reduction);
    case InstructionSet::avx2: return kernels_in<Avx2>(type, reduction);
    case InstructionSet::avx512: return kernels_in<Avx512>(type, reduction);
  }
  return {};
}

}  // namespace athanor
