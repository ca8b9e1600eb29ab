#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace athanor {

/// An index that cannot be mistaken for another kind of index.
template <class Tag>
struct Id {
  std::uint32_t value = 0;

  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t v) : value(v) {}
  constexpr auto operator<=>(const Id&) const = default;
};

}  // namespace athanor

template <class Tag>
struct std::hash<athanor::Id<Tag>> {
  std::size_t operator()(athanor::Id<Tag> id) const noexcept { return std::hash<std::uint32_t>{}(id.value); }
};
