#include "algorithms/execution/expectation.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "algorithms/execution/half_precision.hpp"
#include "sim/random.hpp"

namespace athanor {

namespace {

/// Adds to nothing over all ranks: +1 and -1 in turn, 0 for the odd one out, moved on by one rank per element.
std::int64_t balanced(std::uint32_t rank, std::size_t element, std::uint32_t ranks) {
  const auto place = static_cast<std::uint32_t>((rank + element) % ranks);
  if (ranks % 2 == 1 && place + 1 == ranks) { return 0; }
  return place % 2 == 0 ? 1 : -1;
}

std::int64_t factor(std::uint32_t rank, std::size_t element, std::uint32_t ranks) {
  const std::int64_t magnitude = (rank + element) % ranks < 3 ? 2 : 1;  // at most 8 in all, which int8 holds
  return (rank * 5 + element) % 7 == 0 ? -magnitude : magnitude;
}

/// From -100 to 100.
std::int64_t scattered(std::uint32_t rank, std::size_t element) {
  return static_cast<std::int64_t>(scale_hash(mix64(rank * std::uint64_t{Expectation::kPeriod} + element), 201)) - 100;
}

/// What the rank contributes at an element.
std::int64_t input(Reduction reduction, bool finished, std::uint32_t rank, std::size_t element, std::uint32_t ranks) {
  if (!finished) { return scattered(rank, element); }
  switch (reduction) {
    case Reduction::sum:
    case Reduction::average: return static_cast<std::int64_t>(element % 3) + balanced(rank, element, ranks);
    case Reduction::product: return factor(rank, element, ranks);
    case Reduction::minimum:
    case Reduction::maximum: break;
  }
  return scattered(rank, element);
}

std::int64_t combine(Reduction reduction, std::int64_t a, std::int64_t b) {
  switch (reduction) {
    case Reduction::sum:
    case Reduction::average: return a + b;
    case Reduction::product: return a * b;
    case Reduction::minimum: return std::min(a, b);
    case Reduction::maximum: break;
  }
  return std::max(a, b);
}

template <class Element>
void put(std::byte* to, Element element) {
  std::memcpy(to, &element, sizeof(element));
}

/// Requires a value that the type represents, or for integers its low bits.
void put(DataType type, std::byte* to, std::int64_t value) {
  switch (type) {
    case DataType::float32: return put(to, static_cast<float>(value));
    case DataType::float64: return put(to, static_cast<double>(value));
    case DataType::float16: return put(to, narrow_to_float16(static_cast<float>(value)));
    case DataType::bfloat16: return put(to, narrow_to_bfloat16(static_cast<float>(value)));
    case DataType::int8: return put(to, static_cast<std::int8_t>(value));
    case DataType::int32: return put(to, static_cast<std::int32_t>(value));
    case DataType::int64: return put(to, value);
  }
}

template <class Element>
Element get(const std::byte* from) {
  Element element{};
  std::memcpy(&element, from, sizeof(element));
  return element;
}

std::string text(DataType type, const std::byte* from) {
  switch (type) {
    case DataType::float32: return fmt::format("{}", get<float>(from));
    case DataType::float64: return fmt::format("{}", get<double>(from));
    case DataType::float16: return fmt::format("{}", widen(get<Float16>(from)));
    case DataType::bfloat16: return fmt::format("{}", widen(get<BFloat16>(from)));
    case DataType::int8: return fmt::format("{}", static_cast<int>(get<std::int8_t>(from)));
    case DataType::int32: return fmt::format("{}", get<std::int32_t>(from));
    case DataType::int64: return fmt::format("{}", get<std::int64_t>(from));
  }
  return "";
}

}  // namespace

Expectation::Expectation(const Collective& collective, DataType type, Reduction reduction)
    : contract_(collective), type_(type), size_(element_size(type)) {
  std::vector<std::int64_t> reduced;
  for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
    std::vector<std::int64_t> values(kPeriod);
    for (std::size_t i = 0; i < kPeriod; ++i) {
      values[i] = input(reduction, contract_.finished(), rank, i, collective.ranks);
    }
    inputs_.push_back(encode(values));
    if (rank == 0) { reduced = values; }
    if (rank == 0 || !contract_.finished()) { continue; }  // what only moves is not reduced
    for (std::size_t i = 0; i < kPeriod; ++i) { reduced[i] = combine(reduction, reduced[i], values[i]); }
  }
  for (std::int64_t& value : reduced) { value /= reduction == Reduction::average ? collective.ranks : 1; }
  reduced_ = encode(reduced);
}

Expectation::Period Expectation::encode(const std::vector<std::int64_t>& values) const {
  Period period(2 * kPeriod * size_);
  for (std::size_t i = 0; i < 2 * kPeriod; ++i) { put(type_, &period[i * size_], values[i % kPeriod]); }
  return period;
}

void Expectation::fill(std::uint32_t rank, std::span<std::byte> input) const {
  for (std::size_t done = 0; done < input.size();) {
    const std::size_t length = std::min(kPeriod * size_, input.size() - done);
    std::memcpy(input.data() + done, inputs_[rank].data(), length);
    done += length;
  }
}

std::optional<std::string> Expectation::wrong(std::uint32_t rank, std::span<const std::byte> output) const {
  for (const Promise& promise : contract_.promised(rank)) {
    const Period& period = promise.origin ? inputs_[*promise.origin] : reduced_;
    const auto first = static_cast<std::size_t>(promise.first.count());
    const auto from = static_cast<std::size_t>(promise.from.count());
    const auto bytes = output.subspan(first * size_, static_cast<std::size_t>(promise.count.count()) * size_);
    const auto found = first_wrong(period, from, bytes);
    if (!found) { continue; }
    return fmt::format("element {} of rank {} is {} instead of {}", first + *found, rank,
                       text(type_, &bytes[*found * size_]), text(type_, &period[(from + *found) % kPeriod * size_]));
  }
  return std::nullopt;
}

std::optional<std::size_t> Expectation::first_wrong(const Period& period, std::size_t from,
                                                    std::span<const std::byte> output) const {
  const std::byte* const expected = &period[from % kPeriod * size_];
  const std::size_t whole = kPeriod * size_;
  for (std::size_t done = 0; done < output.size(); done += whole) {
    const std::size_t length = std::min(whole, output.size() - done);
    if (std::memcmp(&output[done], expected, length) == 0) { continue; }
    std::size_t element = 0;
    while (std::memcmp(&output[done + element * size_], expected + element * size_, size_) == 0) { ++element; }
    return done / size_ + element;
  }
  return std::nullopt;
}

}  // namespace athanor
