#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sim/ratio.hpp"
#include "sim/time.hpp"
#include "sim/units.hpp"
#include "sim/wall_time.hpp"

namespace athanor {

/// What a field may hold where nothing else is said: sizes and times from 0, bandwidths above 0, ratios from 0 to 1,
/// integers all that their type holds.
template <class T>
struct Natural {
  static constexpr T least = std::numeric_limits<T>::min();
  static constexpr T most = std::numeric_limits<T>::max();
};
template <class Unit>
struct Natural<Quantity<Unit>> {
  static constexpr Quantity<Unit> least{std::same_as<Quantity<Unit>, Bandwidth> ? 1 : 0};
  static constexpr Quantity<Unit> most = Quantity<Unit>::max();
};
template <>
struct Natural<Ratio> {
  static constexpr Ratio least{0, 1};
  static constexpr Ratio most{1, 1};
};

/// Both ends are allowed. {1, 64}: from 1 to 64; {1}: at least 1; {.most = 64}: at most 64; {}: Natural.
template <class T>
struct Range {
  T least = Natural<T>::least;
  T most = Natural<T>::most;
};

/// The words that a string may be; none: any string.
struct OneOf {
  std::vector<std::string> words;
};

/// The values of an enumeration by name: {{"ideal", Level::ideal}, {"flow", Level::flow}}.
template <class E>
struct Named {
  std::string_view name;
  E value;
};
template <class E>
struct Names {
  Names(std::initializer_list<Named<E>> list) : named(list) {}
  explicit Names(std::vector<Named<E>> list) : named(std::move(list)) {}
  std::vector<Named<E>> named;
};

struct NoLimits {};

/// What can be said about the values of a T: of the elements for a list, of the value for an optional.
template <class T>
struct LimitsFor {
  using Type = Range<T>;
};
template <>
struct LimitsFor<bool> {
  using Type = NoLimits;
};
template <>
struct LimitsFor<std::string> {
  using Type = OneOf;
};
template <class E>
requires std::is_enum_v<E>
struct LimitsFor<E> {
  using Type = Names<E>;
};
template <class T>
struct LimitsFor<std::optional<T>> : LimitsFor<T> {};
template <class T>
struct LimitsFor<std::vector<T>> : LimitsFor<T> {};

template <class T>
using LimitsOf = typename LimitsFor<T>::Type;

}  // namespace athanor
