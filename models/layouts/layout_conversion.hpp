#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
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

/// What a collective takes, of so many bytes as Collective::count counts them; none: it is not to be had. Never asked
/// of slices.
using LayoutStepPrice = std::function<std::optional<Time>(const LayoutStep& step, Bytes size)>;
/// A time that it does not fall below, which is found quickly.
using LayoutStepBound = std::function<Time(const LayoutStep& step, Bytes size)>;

/// The steps from one layout of a tensor to another, one after the other.
struct LayoutConversion {
  std::vector<LayoutStep> steps;
  std::vector<Time> times;  ///< of each step
  Time time;                ///< their sum
};

/// Finds the fastest sequence of steps (Dijkstra's algorithm over layouts; of equally fast ones that of fewest steps,
/// then the first in the order of steps_from). A search ends where its target is reached, and what a step takes is
/// asked for where its bound says that it may count. All layouts on the way fit into `most_bytes` per device, but where
/// it begins and ends.
class LayoutConverter {
 public:
  /// `bound`: null where nothing is known. `most_bytes`: none, where layouts on the way may be as large as they like.
  LayoutConverter(DeviceMesh mesh, LayoutStepPrice price, LayoutStepBound bound = nullptr,
                  std::optional<Bytes> most_bytes = std::nullopt)
      : mesh_(std::move(mesh)), price_(std::move(price)), bound_(std::move(bound)), most_bytes_(most_bytes) {}

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
  struct Edge {
    LayoutStep step;
    std::uint32_t to = 0;
    Time bound;
    std::optional<std::optional<Time>> time;  ///< once it has been asked for; none: it is not to be had
  };
  /// How a layout is reached from the one where a search began.
  struct Reached {
    Time time = Time::max();  ///< max(): it is not
    Edge* last = nullptr;
    std::uint32_t before = 0;
    bool settled = false;
  };
  /// A layout that may be reached by an edge whose time is known, or no less than its bound.
  struct Candidate {
    Time time;
    std::uint32_t steps = 0;
    std::uint64_t order = 0;
    std::uint32_t before = 0;
    Edge* edge = nullptr;
    bool operator<(const Candidate& other) const {
      return std::tie(time, steps, order) < std::tie(other.time, other.steps, other.order);
    }
  };
  struct Search {
    std::vector<Reached> reached;
    std::set<Candidate> open;
    std::uint64_t order = 0;
    bool plain = false;
  };
  /// All layouts of a tensor that have been met, by number.
  struct Space {
    std::map<TensorLayout, std::uint32_t> numbers;
    std::vector<TensorLayout> layouts;
    std::vector<std::vector<Edge>> edges;  ///< from each; found when first asked for
    std::vector<bool> has_edges;
    std::map<std::pair<std::uint32_t, bool>, Search> searches;  ///< by where they begin, and whether they are plain
    std::uint32_t number(const TensorLayout& layout);
  };

  /// Whether the target is reached.
  bool advance(const TensorExtent& tensor, Space& space, std::uint32_t start, Search& search, std::uint32_t to);
  void expand(const TensorExtent& tensor, Space& space, std::uint32_t from, std::uint32_t steps, Search& search);
  std::vector<Edge>& edges(const TensorExtent& tensor, Space& space, std::uint32_t from);
  const std::optional<Time>& time_of(const TensorExtent& tensor, Edge& edge) const;
  std::optional<LayoutConversion> find(const TensorExtent& tensor, const TensorLayout& from, const TensorLayout& to,
                                       bool plain);
  bool fits(const TensorExtent& tensor, const TensorLayout& layout) const;

  DeviceMesh mesh_;
  LayoutStepPrice price_;
  LayoutStepBound bound_;
  std::optional<Bytes> most_bytes_;
  std::map<TensorExtent, Space> spaces_;
};

}  // namespace athanor
