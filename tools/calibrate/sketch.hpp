#pragma once

#include <memory>
#include <vector>

#include "algorithms/formats/table_schedule.hpp"

namespace athanor {

/// A small schedule drawn by hand, step by step: what probes are made of.
class Sketch {
 public:
  /// Chunks that the buffers of each rank hold.
  explicit Sketch(std::uint32_t ranks, TableMemory memory = {}) : memories_(ranks, memory), lanes_(ranks) {}

  /// A new lane of the rank; its number.
  std::uint32_t lane(std::uint32_t rank);
  /// Joins a new out-port of one lane to a new in-port of another, each named by its rank and lane.
  void connect(std::uint32_t from, std::uint32_t from_lane, std::uint32_t to, std::uint32_t to_lane);
  void step(std::uint32_t rank, std::uint32_t lane, const TableStep& step) { lanes_[rank][lane].steps.push_back(step); }

  std::shared_ptr<const Table> table(std::uint32_t slots) const;
  /// As a schedule whose chunks are so many bytes of float32.
  std::unique_ptr<const Schedule> stretched(std::int64_t chunk, std::uint32_t slots = 1) const;

 private:
  struct LaneSketch {
    std::vector<TableStep> steps;
    std::vector<Endpoint> sources;
    std::vector<Endpoint> targets;
  };
  std::vector<TableMemory> memories_;
  std::vector<std::vector<LaneSketch>> lanes_;
};

}  // namespace athanor
