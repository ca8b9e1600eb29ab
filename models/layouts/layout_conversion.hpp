#pragma once

#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "models/layouts/layout_step.hpp"
#include "sim/time.hpp"

namespace athanor {

/// A tensor as conversions see it.
struct TensorExtent {
  TensorShape shape;
  std::int64_t element_bytes = 2;
  auto operator<=>(const TensorExtent&) const = default;
};

/// What a collective takes, of so many bytes as Collective::count counts them. Never asked of slices.
using LayoutStepPrice = std::function<Time(const LayoutStep& step, Bytes size)>;

/// The steps from one layout of a tensor to another, one after the other.
struct LayoutConversion {
  std::vector<LayoutStep> steps;
  std::vector<Time> times;  ///< of each step
  Time time;                ///< their sum
};

/// Finds the fastest sequence of steps (Dijkstra's algorithm over layouts; of equally fast ones that of fewest steps,
/// then the first in the order of steps_from). All layouts on the way fit into `most_bytes` per device, but where it
/// begins and ends.
class LayoutConverter {
 public:
  /// `most_bytes`: none, where layouts on the way may be as large as they like.
  LayoutConverter(DeviceMesh mesh, LayoutStepPrice price, std::optional<Bytes> most_bytes = std::nullopt)
      : mesh_(std::move(mesh)), price_(std::move(price)), most_bytes_(most_bytes) {}

  const DeviceMesh& mesh() const { return mesh_; }

  /// None: no steps lead there, as from what is no sum to one. Requires that both divide the shape. Throws as the
  /// price.
  std::optional<LayoutConversion> find(const TensorExtent& tensor, const TensorLayout& from, const TensorLayout& to);
  /// The time alone; none as find().
  std::optional<Time> time(const TensorExtent& tensor, const TensorLayout& from, const TensorLayout& to);

  /// As find() where shards are only gathered and sliced and sums only all-reduced: no axis is moved or scattered.
  std::optional<LayoutConversion> find_plain(const TensorExtent& tensor, const TensorLayout& from,
                                             const TensorLayout& to);

 private:
  struct PricedStep {
    LayoutStep step;
    std::uint32_t to = 0;
    Time time;
  };
  /// How a layout is reached from the one where a search began.
  struct Reached {
    Time time = Time::max();  ///< max(): it is not
    std::uint32_t steps = 0;
    const PricedStep* last = nullptr;
    std::uint32_t before = 0;
  };
  using ReachedLayouts = std::vector<Reached>;
  /// All layouts of a tensor that have been met, by number.
  struct Space {
    std::map<TensorLayout, std::uint32_t> numbers;
    std::vector<TensorLayout> layouts;
    std::vector<std::vector<PricedStep>> steps;  ///< from each; found when first asked for
    std::vector<bool> has_steps;
    std::map<std::uint32_t, ReachedLayouts> reached;  ///< by where the search began
    std::uint32_t number(const TensorLayout& layout);
  };

  Space& space(const TensorExtent& tensor) { return spaces_[tensor]; }
  const std::vector<PricedStep>& steps(const TensorExtent& tensor, Space& space, std::uint32_t from);
  const ReachedLayouts& from(const TensorExtent& tensor, Space& space, std::uint32_t start);
  ReachedLayouts search(const TensorExtent& tensor, Space& space, std::uint32_t start, bool plain);
  static std::optional<LayoutConversion> path(const ReachedLayouts& reached, std::uint32_t to);
  bool fits(const TensorExtent& tensor, const TensorLayout& layout) const;

  DeviceMesh mesh_;
  LayoutStepPrice price_;
  std::optional<Bytes> most_bytes_;
  std::map<TensorExtent, Space> spaces_;
};

}  // namespace athanor
