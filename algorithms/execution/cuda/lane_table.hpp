#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace athanor {

class Schedule;

/// A schedule as tables that a GPU's thread blocks interpret without knowing the algorithm: per lane one loop in full
/// (body) and the last loop (tail). The address of loop l is that of loop 0 moved by l * shift.
struct LaneTables {
  static constexpr std::uint32_t kNone = 0xffffffff;

  struct CellRange {
    std::int64_t first = 0;
    std::int64_t run = 0;  ///< 0: contiguous
    std::int64_t stride = 0;
    std::uint32_t buffer = kNone;  ///< a Buffer, or kNone: there is no such operand or store
  };
  struct Entry {
    std::int64_t count = 0;
    std::array<CellRange, 2> operands;
    CellRange store;
    std::int64_t wait_ended = 0;      ///< body: in the last full loop; one loop earlier it is less by the lane's steps
    std::uint32_t wait_lane = kNone;  ///< into `lanes`
    std::uint32_t first_receive = 0;  ///< into `in_connections`
    std::uint32_t receives = 0;
    std::uint32_t first_send = 0;  ///< a connection
    std::uint32_t sends = 0;
    std::uint32_t finish = 0;
  };
  struct Lane {
    std::uint64_t loops = 0;
    std::uint32_t agent = 0;
    std::uint32_t steps = 0;
    std::uint32_t body = 0;  ///< into `entries`
    std::uint32_t tail = 0;
  };
  struct Connection {
    std::uint32_t source_lane = 0;
    std::uint32_t target_lane = 0;
  };

  std::vector<Entry> entries;
  std::vector<Lane> lanes;                    ///< agent by agent
  std::vector<Connection> connections;        ///< by source lane and out-port
  std::vector<std::uint32_t> in_connections;  ///< by target lane and in-port
  std::array<std::int64_t, 3> shift{};        ///< by Buffer
  std::int64_t message_limit = 0;
  std::uint32_t ranks = 0;
  std::uint32_t agents = 0;
};

/// O(lanes x steps) memory, whatever the number of loops.
LaneTables tabulate_lanes(const Schedule& schedule);

/// A connection whose ends disagree on the number or the lengths of its messages, if there is one.
std::optional<std::uint32_t> unmatched_connection(const LaneTables& tables);

}  // namespace athanor
