#include "algorithms/execution/elements.hpp"

#include "algorithms/execution/element_arithmetic.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

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
  using Divided = typename ElementDivision<Element>::Divided;

  [[gnu::always_inline]] static void in_place(Element* to, std::size_t count, Divided divisor) {
    for (std::size_t i = 0; i < count; ++i) { to[i] = ElementDivision<Element>::divide(to[i], divisor); }
  }
  [[gnu::always_inline]] static void apart(Element* __restrict to, const Element* __restrict from, std::size_t count,
                                           Divided divisor) {
    for (std::size_t i = 0; i < count; ++i) { to[i] = ElementDivision<Element>::divide(from[i], divisor); }
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
    case Reduction::sum: return {sizeof(Element), Set::template reduce<Element, Adding>, nullptr};
    case Reduction::product: return {sizeof(Element), Set::template reduce<Element, Multiplying>, nullptr};
    case Reduction::minimum: return {sizeof(Element), Set::template reduce<Element, TakingMinimum>, nullptr};
    case Reduction::maximum: return {sizeof(Element), Set::template reduce<Element, TakingMaximum>, nullptr};
    case Reduction::average:
      return {sizeof(Element), Set::template reduce<Element, Adding>, Set::template finish<Element>};
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
