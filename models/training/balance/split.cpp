#include "models/training/balance/split.hpp"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>

#include "sim/check.hpp"

namespace athanor {

namespace {

/// Of layers from some on and the stages from some on: the best that there is.
struct BestSplit {
  Time slowest = Time::max();
  Time sum = Time::max();
  std::uint32_t count = 0;  ///< layers of the first of these stages; 0: there is no such split
  bool exists() const { return count > 0; }
};

/// Splits are built from the last stage on. A limit on the slowest one makes sums comparable.
class LayerSplit {
 public:
  LayerSplit(std::uint32_t layers, const std::vector<std::uint32_t>& most, const StageCost& cost)
      : layers_(layers), most_(most), cost_(cost) {}

  std::vector<std::uint32_t> find() {
    fill(Time::max());
    if (!table_[0][0].exists()) { return {}; }
    fill(table_[0][0].slowest);
    std::vector<std::uint32_t> split;
    std::uint32_t first = 0;
    for (std::size_t stage = 0; stage < most_.size(); ++stage) {
      split.push_back(table_[stage][first].count);
      first += split.back();
    }
    return split;
  }

 private:
  void fill(Time limit) {
    limit_ = limit;
    table_.assign(most_.size(), std::vector<BestSplit>(layers_ + 1));
    for (auto stage = static_cast<std::uint32_t>(most_.size()); stage-- > 0;) {
      for (std::uint32_t first = stage; first < layers_; ++first) { table_[stage][first] = best(stage, first); }
    }
  }

  BestSplit best(std::uint32_t stage, std::uint32_t first) const {
    const bool last = stage + 1 == most_.size();
    BestSplit found;
    for (std::uint32_t count = std::min(most_[stage], layers_ - first); count > 0; --count) {
      if (last && first + count != layers_) { continue; }
      const Time own = cost_(stage, first, count);
      if (own > limit_) { continue; }
      BestSplit all{own, own, count};
      if (!last) {
        const BestSplit& behind = table_[stage + 1][first + count];
        if (!behind.exists()) { continue; }
        all = {std::max(own, behind.slowest), own + behind.sum, count};
      }
      if (better(all, found)) { found = all; }
    }
    return found;
  }

  /// Without a limit the slowest stage decides; with one all are as good by that.
  bool better(const BestSplit& a, const BestSplit& b) const {
    return limit_ == Time::max() ? std::tie(a.slowest, a.sum) < std::tie(b.slowest, b.sum) : a.sum < b.sum;
  }

  std::uint32_t layers_;
  const std::vector<std::uint32_t>& most_;
  const StageCost& cost_;
  Time limit_;
  std::vector<std::vector<BestSplit>> table_;  ///< by stage and its first layer
};

}  // namespace

std::vector<std::uint32_t> balanced_layers(std::uint32_t layers, const std::vector<std::uint32_t>& most,
                                           const StageCost& cost) {
  require(!most.empty(), "layers for no stage");
  return LayerSplit(layers, most, cost).find();
}

std::vector<std::uint32_t> balanced_batch(std::uint32_t micro_batches, const std::vector<CopyPace>& copies) {
  require(!copies.empty() && micro_batches >= copies.size(), "{} micro-batches for {} copies", micro_batches,
          copies.size());
  using Turn = std::pair<Time, std::uint32_t>;  ///< when the copy would be done with one more
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
  for (std::uint32_t copy = 0; copy < copies.size(); ++copy) {
    turns.push({copies[copy].fill + copies[copy].pace, copy});
  }
  std::vector<std::uint32_t> split(copies.size(), 1);
  for (auto given = static_cast<std::uint32_t>(copies.size()); given < micro_batches; ++given) {
    const auto [done, copy] = turns.top();
    turns.pop();
    ++split[copy];
    turns.push({done + copies[copy].pace, copy});
  }
  return split;
}

}  // namespace athanor
