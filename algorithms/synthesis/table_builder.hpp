#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "algorithms/formats/table_schedule.hpp"
#include "algorithms/schedule/collective.hpp"

namespace athanor {

/// Writes a table message by message: each rank has a lane for everybody that it gets from, and one for everybody that
/// it sends to, in each stage of the collective. Lanes carry their steps out in the order in which they were added; the
/// steps of both ends of a connection have to be added in the same order.
class TableBuilder {
 public:
  /// A step of a rank, for others of this rank to wait for.
  struct Step {
    std::uint32_t lane = 0;
    std::uint32_t step = 0;
  };
  struct Message {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t stage = 0;  ///< of the collective; connections of several stages are apart
    std::uint32_t chunks = 1;
  };

  /// The collective's count is that of its chunks.
  explicit TableBuilder(const Collective& collective);

  Step send(const Message& message, TableCells source, std::optional<Step> wait = {});
  /// `added`: what is added to it before it is stored.
  Step receive(const Message& message, TableCells target, std::optional<TableCells> added = {},
               std::optional<Step> wait = {});
  /// Nothing where both are one place. A lane of its own.
  void copy(std::uint32_t rank, std::uint32_t chunks, TableCells source, TableCells target);
  /// The step makes a sum over all ranks complete.
  void finish(std::uint32_t rank, Step step) { lanes_[rank][step.lane].steps[step.step].finish = true; }
  /// A place of its own for so many chunks.
  TableCells scratch(std::uint32_t rank, std::uint32_t chunks);

  Table build() &&;

 private:
  struct OpenLane {
    std::optional<std::uint32_t> from;
    std::optional<std::uint32_t> to;
    std::uint32_t stage = 0;
    std::vector<TableStep> steps;
  };
  using Wire = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  ///< from, to, stage

  TableCells own(std::uint32_t rank, TableCells cells, std::uint32_t chunks) const;
  std::uint32_t lane(std::map<Wire, std::uint32_t>& lanes, std::uint32_t rank, const Message& message, bool sends);
  Step add(std::uint32_t rank, std::uint32_t lane, TableStep step, std::optional<Step> wait);

  std::vector<TableMemory> memories_;
  std::vector<std::vector<OpenLane>> lanes_;  ///< by rank
  std::map<Wire, std::uint32_t> senders_;     ///< lanes
  std::map<Wire, std::uint32_t> receivers_;
};

}  // namespace athanor
