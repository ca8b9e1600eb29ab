#include "algorithms/execution/engine_reducer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <fmt/core.h>

#include "algorithms/execution/element_arithmetic.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/random.hpp"

namespace athanor {

namespace {

constexpr std::size_t kPacket = EngineArithmetic::kPacketElements;

/// Elements on their way into an accumulator of type Wide and out of it.
template <class Element, class Wide>
struct Accumulation {
  static Wide load(Element element) { return static_cast<Wide>(ElementArithmetic<Element>::load(element)); }
  static Element store(Wide sum) {
    if constexpr (std::is_same_v<Element, float>) {
      return static_cast<float>(sum);
    } else if constexpr (std::is_same_v<Wide, double>) {
      return ElementArithmetic<Element>::store(narrow_to_odd(sum));
    } else {
      return ElementArithmetic<Element>::store(sum);
    }
  }
  template <class Operation>
  static Wide add(Wide sum, Element element) {
    return Operation::apply(sum, load(element));
  }
  static Wide divide(Wide sum, std::uint32_t divisor) { return sum / static_cast<Wide>(divisor); }
};

/// The accumulator is as the data.
template <class Element>
struct Accumulation<Element, Element> {
  static Element load(Element element) { return element; }
  static Element store(Element sum) { return sum; }
  template <class Operation>
  static Element add(Element sum, Element element) {
    return combine<Element, Operation>(sum, element);
  }
  static Element divide(Element sum, std::uint32_t divisor) {
    return ElementDivision<Element>::divide(sum, static_cast<typename ElementDivision<Element>::Divided>(divisor));
  }
};

template <class Element, class Wide, class Operation>
void fold(std::byte* to, std::span<const std::byte* const> from, std::size_t count, std::uint32_t divisor) {
  using Way = Accumulation<Element, Wide>;
  std::array<Wide, kPacket> sums;
  const auto elements = [&](std::size_t source) { return reinterpret_cast<const Element*>(from[source]); };
  for (std::size_t i = 0; i < count; ++i) { sums[i] = Way::load(elements(0)[i]); }
  for (std::size_t source = 1; source < from.size(); ++source) {
    const Element* const next = elements(source);
    for (std::size_t i = 0; i < count; ++i) { sums[i] = Way::template add<Operation>(sums[i], next[i]); }
  }
  if (divisor > 0) {
    for (std::size_t i = 0; i < count; ++i) { sums[i] = Way::divide(sums[i], divisor); }
  }
  auto* const target = reinterpret_cast<Element*>(to);
  for (std::size_t i = 0; i < count; ++i) { target[i] = Way::store(sums[i]); }
}

using FoldFunction = void (*)(std::byte*, std::span<const std::byte* const>, std::size_t, std::uint32_t);

template <class Element, class Wide>
FoldFunction fold_for(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
    case Reduction::average: return &fold<Element, Wide, Adding>;
    case Reduction::product: return &fold<Element, Wide, Multiplying>;
    case Reduction::minimum: return &fold<Element, Wide, TakingMinimum>;
    case Reduction::maximum: break;
  }
  return &fold<Element, Wide, TakingMaximum>;
}

template <class Element>
FoldFunction fold_in(Accumulator accumulator, Reduction reduction) {
  switch (accumulator) {
    case Accumulator::data: return fold_for<Element, Element>(reduction);
    case Accumulator::float32: return fold_for<Element, float>(reduction);
    case Accumulator::float64: break;
  }
  return fold_for<Element, double>(reduction);
}

FoldFunction fold_of(Accumulator accumulator, DataType type, Reduction reduction) {
  switch (type) {
    case DataType::float32: return fold_in<float>(accumulator, reduction);
    case DataType::float64: return fold_for<double, double>(reduction);
    case DataType::float16: return fold_in<Float16>(accumulator, reduction);
    case DataType::bfloat16: return fold_in<BFloat16>(accumulator, reduction);
    case DataType::int8: return fold_for<std::int8_t, std::int8_t>(reduction);
    case DataType::int32: return fold_for<std::int32_t, std::int32_t>(reduction);
    case DataType::int64: break;
  }
  return fold_for<std::int64_t, std::int64_t>(reduction);
}

/// The sources in the order in which one packet of each is taken in.
std::vector<std::size_t> order_of(const EngineArithmetic& arithmetic, const PrimitivePlace& place, std::size_t operands,
                                  std::size_t sources, std::int64_t packet) {
  std::vector<std::size_t> order(operands);
  for (std::size_t i = 0; i < operands; ++i) { order[i] = i; }
  std::vector<std::size_t> messages;
  for (std::size_t i = operands; i < sources; ++i) { messages.push_back(i); }
  if (arithmetic.order == SummationOrder::arrival) {
    std::uint64_t seed = join_hash(arithmetic.seed, place.agent.value);
    for (const std::uint64_t part :
         {std::uint64_t{place.lane.value}, place.index, static_cast<std::uint64_t>(packet)}) {
      seed = join_hash(seed, part);
    }
    RandomStream(seed, "order of arrival").shuffle(messages);
  }
  order.insert(order.end(), messages.begin(), messages.end());
  return order;
}

}  // namespace

EngineReducer::EngineReducer(const EngineArithmetic& arithmetic, DataType type, Reduction reduction,
                             std::uint32_t ranks)
    : arithmetic_(arithmetic),
      fold_(fold_of(arithmetic.accumulator, type, reduction)),
      size_(element_size(type)),
      divisor_(reduction == Reduction::average ? ranks : 0) {
  require(!refusal(arithmetic, type), "engines that cannot add {}", name(type));
}

void EngineReducer::apply(const PrimitivePlace& place, std::size_t operands, std::span<const Source> sources,
                          std::span<const Target> targets, Elements count, bool finish) const {
  if (sources.empty() || targets.empty()) { return; }
  const std::uint32_t divisor = finish ? divisor_ : 0;
  const auto at = [this](const auto& cells, std::int64_t k) { return cells.data + cells.offset(k) * size_; };
  std::vector<std::size_t> order;
  std::vector<const std::byte*> from;
  for (std::int64_t k = 0; k < count.count();) {
    const std::int64_t packet = k / EngineArithmetic::kPacketElements;
    if (k % EngineArithmetic::kPacketElements == 0) {
      order = order_of(arithmetic_, place, operands, sources.size(), packet);
    }
    std::int64_t length = std::min(count.count(), (packet + 1) * EngineArithmetic::kPacketElements) - k;
    for (const Source& source : sources) { length = source.side_by_side(k, k + length); }
    for (const Target& target : targets) { length = target.side_by_side(k, k + length); }
    from.clear();
    for (const std::size_t i : order) { from.push_back(at(sources[i], k)); }
    std::byte* const first = at(targets[0], k);
    const auto bytes = static_cast<std::size_t>(length * size_);
    if (from.size() > 1 || divisor > 0) {
      fold_(first, from, static_cast<std::size_t>(length), divisor);
    } else if (first != from[0]) {
      std::memcpy(first, from[0], bytes);
    }
    for (std::size_t i = 1; i < targets.size(); ++i) { std::memcpy(at(targets[i], k), first, bytes); }
    k += length;
  }
}

std::optional<EngineReducer> engine_reducer(const EngineArithmetic& arithmetic, DataType type, Reduction reduction,
                                            std::uint32_t ranks) {
  if (const auto reason = refusal(arithmetic, type)) { throw UsageError("engines: " + *reason); }
  EngineArithmetic plain;
  plain.seed = arithmetic.seed;
  if (arithmetic == plain) { return std::nullopt; }
  return EngineReducer(arithmetic, type, reduction, ranks);
}

}  // namespace athanor
