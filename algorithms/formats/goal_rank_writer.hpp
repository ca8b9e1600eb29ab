#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "algorithms/formats/goal_export.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// Text that is written piece by piece, so that memory does not grow with it.
class GoalText {
 public:
  /// Borrows `write`.
  explicit GoalText(const std::function<void(std::string_view)>& write) : write_(write) {}

  template <class... Values>
  void add(fmt::format_string<Values...> text, Values&&... values) {
    fmt::format_to(std::back_inserter(buffer_), text, std::forward<Values>(values)...);
    if (buffer_.size() >= kBuffered) { flush(); }
  }
  void flush() {
    write_({buffer_.data(), buffer_.size()});
    buffer_.clear();
  }

 private:
  static constexpr std::size_t kBuffered = 1U << 16U;
  const std::function<void(std::string_view)>& write_;
  std::string buffer_;
};

/// Where a schedule stands in a larger program.
struct GoalPlace {
  std::string prefix = {};                    ///< of all labels
  std::string suffix = {};                    ///< behind each operation: " cpu 3"
  std::span<const std::uint32_t> ranks = {};  ///< of the program, by rank of the schedule; empty: the same
  std::uint64_t first_tag = 0;
  std::string begin = {};  ///< the label that all first operations of a rank require; "": they require nothing
};

/// How many tags a schedule takes at most: its messages to one rank have those from the first on.
std::uint64_t goal_tags(const Schedule& schedule);

/// Writes what one rank of a schedule does, lane by lane. Throws ScenarioError ("no-goal-form") for more than 2^32
/// tags.
class GoalRankWriter {
 public:
  /// Borrows all but `place`.
  GoalRankWriter(const Schedule& schedule, AgentId rank, const GoalOptions& options, GoalPlace place, GoalText& text,
                 GoalSummary& summary);

  void write();
  /// What has to have ended for all of it to have ended; after write(). Labels, with their prefix.
  std::vector<std::string> ends() const;

 private:
  /// A port's messages are tagged first, first + step, first + 2 * step, ...
  struct Tags {
    std::uint64_t first = 0;
    std::uint64_t step = 1;
  };
  struct OutPort {
    std::uint32_t peer = 0;
    Tags tags;
    std::uint64_t sent = 0;
  };
  struct InPort {
    std::uint32_t peer = 0;
    Tags tags;
    std::uint64_t received = 0;
    std::vector<std::uint64_t> users;  ///< primitives that took the last messages, one per slot, round and round
  };

  template <class Visit>
  void each_primitive(LaneId lane, Visit visit) const;
  Tags tags_of(const Endpoint& end) const;
  std::uint32_t tag(const Tags& tags, std::uint64_t message) const;
  std::uint32_t peer_of(AgentId agent) const;
  void write_lane(LaneId lane);
  void open_ports(const Lane& shape);
  std::int64_t bytes(const Primitive& primitive) const;
  std::int64_t nanoseconds(const Primitive& primitive) const;
  bool has_body(const Primitive& primitive) const;
  std::string label(char what, LaneId lane, std::uint64_t index) const;
  std::string head(LaneId lane, std::uint64_t index, const Primitive& primitive) const;
  void write_primitive(std::uint64_t index, const Primitive& primitive);
  void write_receive(std::uint64_t index, std::uint32_t i, const Primitive& primitive);
  void write_send(const std::string& label, std::uint32_t out, const Primitive& primitive);
  void write_sends(std::uint64_t index, const Primitive& primitive, const std::string& start);
  void write_waits(LaneId lane);

  const Schedule& schedule_;
  AgentId rank_;
  const GoalOptions& options_;
  GoalPlace place_;
  GoalText& text_;
  GoalSummary& summary_;
  LaneId lane_;
  std::vector<InPort> ins_;
  std::vector<OutPort> outs_;
};

}  // namespace athanor
