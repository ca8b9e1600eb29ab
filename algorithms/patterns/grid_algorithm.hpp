#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/grid.hpp"

namespace athanor {

/// An algorithm on a grid: `words` with its schedule, granule and cost, which are Kind(collective, layout, dimensions,
/// more...), and Kind::granule and cost() of the same. `dimensions`: from collective and layout.
template <class Kind, class Sides, class... More>
Algorithm on_grid(Algorithm words, Sides dimensions, More... more) {
  words.make_for_many = [=](const Collective& collective, const Layout& layout) {
    return std::make_unique<Kind>(collective, layout, dimensions(collective, layout), more...);
  };
  words.granule_for_many = [=](const Collective& collective, const Layout& layout) {
    return Kind::granule(collective, layout, dimensions(collective, layout), more...);
  };
  words.cost_in_shape = [=](const Collective& collective, const Layout& layout) {
    return Kind(collective, layout, dimensions(collective, layout), more...).cost();
  };
  return words;
}

/// With the dimensions that the layout gives, else `sides` of the least sum.
template <class Kind, class... More>
Algorithm on_any_grid(Algorithm words, std::uint32_t sides, More... more) {
  const auto dimensions = [sides](const Collective& collective, const Layout& layout) {
    return dimensions_of(collective, layout, sides);
  };
  words.takes_dimensions = true;
  return on_grid<Kind>(std::move(words), dimensions, more...);
}

/// With `sides` dimensions: others are refused.
template <class Kind, class... More>
Algorithm on_grid_of(Algorithm words, std::uint32_t sides, More... more) {
  words.refuses_many = [sides](const Collective&, const Layout& layout) {
    return refuse_other_dimensions(layout.as<GridShape>().dimensions, sides);
  };
  return on_any_grid<Kind>(std::move(words), sides, more...);
}

}  // namespace athanor
