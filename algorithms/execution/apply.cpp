#include "algorithms/execution/apply.hpp"

#include <algorithm>
#include <cstring>

namespace athanor {

namespace {

/// Of one target and all sources together: half of the 32 KiB that first-level caches have at least.
constexpr std::int64_t kBlockBytes = 4096;

class Pass {
 public:
  Pass(const Reducer& reducer, std::span<const Source> sources, std::span<const Target> targets, bool finish)
      : kernels_(reducer.kernels),
        ranks_(reducer.ranks),
        size_(static_cast<std::int64_t>(reducer.kernels.size)),
        sources_(sources),
        targets_(targets),
        finish_(finish && reducer.kernels.finish != nullptr) {}

  void run(std::int64_t count) {
    const std::int64_t most = single() ? count : kBlockBytes / size_;
    for (std::int64_t k = 0; k < count;) {
      std::int64_t length = std::min(most, count - k);
      for (const Source& source : sources_) { length = source.side_by_side(k, k + length); }
      for (const Target& target : targets_) { length = target.side_by_side(k, k + length); }
      block(k, length);
      k += length;
    }
  }

 private:
  /// Does one kernel do it all?
  bool single() const { return targets_.size() == 1 && sources_.size() <= 2 && !(finish_ && sources_.size() == 2); }
  const std::byte* source(std::size_t i, std::int64_t k) const {
    return sources_[i].data + sources_[i].offset(k) * size_;
  }
  std::byte* target(std::size_t i, std::int64_t k) const { return targets_[i].data + targets_[i].offset(k) * size_; }

  void block(std::int64_t k, std::int64_t length) const {
    const auto count = static_cast<std::size_t>(length);
    std::byte* const first = target(0, k);
    if (sources_.size() == 1) {
      transfer(first, source(0, k), count);
    } else {
      kernels_.reduce(first, source(0, k), source(1, k), count);
      for (std::size_t i = 2; i < sources_.size(); ++i) { kernels_.reduce(first, first, source(i, k), count); }
      if (finish_) { kernels_.finish(first, first, count, ranks_); }
    }
    for (std::size_t i = 1; i < targets_.size(); ++i) { std::memcpy(target(i, k), first, count * kernels_.size); }
  }

  void transfer(std::byte* to, const std::byte* from, std::size_t count) const {
    if (finish_) { return kernels_.finish(to, from, count, ranks_); }
    if (to != from) { std::memcpy(to, from, count * kernels_.size); }
  }

  ElementKernels kernels_;
  std::uint32_t ranks_;
  std::int64_t size_;
  std::span<const Source> sources_;
  std::span<const Target> targets_;
  bool finish_;
};

}  // namespace

void apply(const Reducer& reducer, std::span<const Source> sources, std::span<const Target> targets, Elements count,
           bool finish) {
  if (sources.empty() || targets.empty()) { return; }
  Pass(reducer, sources, targets, finish).run(count.count());
}

void apply(const Reducer& reducer, const PrimitivePlace& place, const Primitive& primitive,
           std::span<const Source> sources, std::span<const Target> targets) {
  if (!reducer.engines || place.agent.value < reducer.ranks) {
    return apply(reducer, sources, targets, primitive.count, primitive.finish);
  }
  const std::size_t operands = sources.size() - primitive.receives.count;
  reducer.engines->apply(place, operands, sources, targets, primitive.count, primitive.finish);
}

Reducer make_reducer(DataType type, Reduction reduction, const EngineArithmetic& engines, std::uint32_t ranks) {
  return {element_kernels(type, reduction), ranks, engine_reducer(engines, type, reduction, ranks)};
}

}  // namespace athanor
