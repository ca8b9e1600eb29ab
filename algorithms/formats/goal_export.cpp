#include "algorithms/formats/goal_export.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/units.hpp"

namespace athanor {

namespace {

constexpr std::size_t kBuffered = 1U << 16U;
constexpr std::int64_t kNanoseconds = 1'000'000'000;

[[noreturn]] void refuse(std::string reason) {
  throw ScenarioError(Problem{"no-goal-form", std::move(reason), {}, ""});
}

/// A port's messages are tagged first, first + step, first + 2 * step, ...
struct Tags {
  std::uint64_t first = 0;
  std::uint64_t step = 1;

  std::uint32_t of(std::uint64_t message) const {
    const Wide tag = Wide{first} + Wide{step} * Wide{message};
    if (tag > UINT32_MAX) { refuse("there are more messages to one rank than GOAL has tags (2^32)"); }
    return static_cast<std::uint32_t>(tag);
  }
};

/// Tags of what arrives at an in-port: its number among all in-ports of its rank, and so on by their number.
Tags tags_of(const Schedule& schedule, const Endpoint& end) {
  Tags tags{end.port.value, 0};
  for (std::uint32_t lane = 0; lane < schedule.lanes(end.agent); ++lane) {
    const std::uint32_t ports = schedule.lane(end.agent, LaneId{lane}).in_ports;
    if (lane < end.lane.value) { tags.first += ports; }
    tags.step += ports;
  }
  return tags;
}

class Exporter {
 public:
  Exporter(const Schedule& schedule, const GoalOptions& options, const std::function<void(std::string_view)>& write)
      : schedule_(schedule), options_(options), write_(write) {
    require(options.element_bytes > 0 && options.reduced_per_second >= 0, "elements of {} bytes, reduced at {}/s",
            options.element_bytes, options.reduced_per_second);
  }

  GoalSummary run() {
    const AgentCount agent_count = schedule_.agent_count();
    if (agent_count.agents > agent_count.ranks) {
      refuse(fmt::format("{} engines take part, and GOAL knows ranks only", agent_count.agents - agent_count.ranks));
    }
    add("num_ranks {}\n", agent_count.ranks);
    for (std::uint32_t rank = 0; rank < agent_count.ranks; ++rank) {
      add("\nrank {} {{\n", rank);
      rank_ = AgentId{rank};
      for (std::uint32_t lane = 0; lane < schedule_.lanes(rank_); ++lane) { write_lane(LaneId{lane}); }
      for (std::uint32_t lane = 0; lane < schedule_.lanes(rank_); ++lane) { write_waits(LaneId{lane}); }
      add("}}\n");
    }
    flush();
    return summary_;
  }

 private:
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

  template <class... Values>
  void add(fmt::format_string<Values...> text, Values&&... values) {
    fmt::format_to(std::back_inserter(buffer_), text, std::forward<Values>(values)...);
    if (buffer_.size() >= kBuffered) { flush(); }
  }

  void flush() {
    write_({buffer_.data(), buffer_.size()});
    buffer_.clear();
  }

  /// visit(index, primitive) for all of a lane.
  template <class Visit>
  void each_primitive(LaneId lane, Visit visit) const {
    const Lane shape = schedule_.lane(rank_, lane);
    std::uint64_t index = 0;
    for (std::uint64_t loop = 0; loop < shape.loops; ++loop) {
      for (std::uint32_t step = 0; step < shape.steps; ++step) {
        visit(index++, schedule_.at(rank_, lane, loop, step));
      }
    }
  }

  void write_lane(LaneId lane) {
    lane_ = lane;
    open_ports(schedule_.lane(rank_, lane));
    each_primitive(lane, [&](std::uint64_t index, const Primitive& primitive) { write_primitive(index, primitive); });
  }

  void open_ports(const Lane& shape) {
    ins_.clear();
    outs_.clear();
    for (std::uint32_t port = 0; port < shape.in_ports; ++port) {
      const Endpoint from = schedule_.source(rank_, lane_, PortId{port});
      InPort in{from.agent.value, tags_of(schedule_, {rank_, lane_, PortId{port}}), 0, {}};
      in.users.resize(schedule_.least_slots());
      ins_.push_back(std::move(in));
    }
    for (std::uint32_t port = 0; port < shape.out_ports; ++port) {
      const Endpoint to = schedule_.target(rank_, lane_, PortId{port});
      outs_.push_back({to.agent.value, tags_of(schedule_, to), 0});
    }
  }

  std::int64_t bytes(const Primitive& primitive) const { return (primitive.count * options_.element_bytes).count(); }

  std::int64_t nanoseconds(const Primitive& primitive) const {
    if (options_.reduced_per_second == 0 || primitive.inputs() < 2) { return 0; }
    const Wide work = Wide{bytes(primitive)} * (primitive.inputs() - 1) * kNanoseconds;
    const Wide time = (work + options_.reduced_per_second - 1) / options_.reduced_per_second;
    if (time > INT64_MAX) { refuse("a reduction takes longer than 2^63 ns at this rate"); }
    return static_cast<std::int64_t>(time);
  }

  /// A single send that follows at once is the primitive; else it has a body that the sends, if any, follow.
  bool has_body(const Primitive& primitive) const { return primitive.sends.count != 1 || nanoseconds(primitive) > 0; }

  /// The operation that starts when receives, wait and the primitive before allow. Labels: p ends the primitive, b is
  /// its body where that is not the end, s one of several sends, r a receive.
  std::string head(LaneId lane, std::uint64_t index, const Primitive& primitive) const {
    const bool body = has_body(primitive) && primitive.sends.count > 0;
    return fmt::format("{}{}_{}", body ? 'b' : 'p', lane.value, index);
  }

  void write_primitive(std::uint64_t index, const Primitive& primitive) {
    const std::uint32_t lane = lane_.value;
    for (std::uint32_t i = 0; i < primitive.receives.count; ++i) { write_receive(index, i, primitive); }
    const std::string start = head(lane_, index, primitive);
    if (has_body(primitive)) {
      add("{}: calc {}\n", start, nanoseconds(primitive));
      ++summary_.operations;
    }
    if (primitive.sends.count == 1) {
      write_send(fmt::format("p{}_{}", lane, index), primitive.sends.first, primitive);
    }
    if (index > 0) { add("{} requires p{}_{}\n", start, lane, index - 1); }
    for (std::uint32_t i = 0; i < primitive.receives.count; ++i) {
      add("{} requires r{}_{}_{}\n", start, lane, index, i);
    }
    if (primitive.sends.count == 1 && has_body(primitive)) { add("p{}_{} requires {}\n", lane, index, start); }
    if (primitive.sends.count > 1) { write_sends(index, primitive, start); }
  }

  void write_receive(std::uint64_t index, std::uint32_t i, const Primitive& primitive) {
    InPort& port = ins_[primitive.receives.first + i];
    const std::string label = fmt::format("r{}_{}_{}", lane_.value, index, i);
    add("{}: recv {}b from {} tag {}\n", label, std::max<std::int64_t>(1, bytes(primitive)), port.peer,
        port.tags.of(port.received));
    ++summary_.operations;
    std::uint64_t& user = port.users[port.received % port.users.size()];
    if (port.received >= port.users.size()) { add("{} requires p{}_{}\n", label, lane_.value, user); }
    user = index;
    ++port.received;
  }

  void write_send(const std::string& label, std::uint32_t out, const Primitive& primitive) {
    OutPort& port = outs_[out];
    const std::int64_t size = bytes(primitive);
    add("{}: send {}b to {} tag {}\n", label, std::max<std::int64_t>(1, size), port.peer, port.tags.of(port.sent));
    ++port.sent;
    ++summary_.messages;
    ++summary_.operations;
    summary_.bytes += static_cast<std::uint64_t>(size);
    if (size == 0) { ++summary_.empty; }
  }

  void write_sends(std::uint64_t index, const Primitive& primitive, const std::string& start) {
    const std::string end = fmt::format("p{}_{}", lane_.value, index);
    add("{}: calc 0\n", end);
    ++summary_.operations;
    for (std::uint32_t i = 0; i < primitive.sends.count; ++i) {
      const std::string label = fmt::format("s{}_{}_{}", lane_.value, index, i);
      write_send(label, primitive.sends.first + i, primitive);
      add("{} requires {}\n{} requires {}\n", label, start, end, label);
    }
  }

  /// After all lanes, because a label may be used only below its definition.
  void write_waits(LaneId lane) {
    each_primitive(lane, [&](std::uint64_t index, const Primitive& primitive) {
      if (!primitive.wait || primitive.wait->ended == 0 || primitive.wait->lane == lane) { return; }
      add("{} requires p{}_{}\n", head(lane, index, primitive), primitive.wait->lane.value, primitive.wait->ended - 1);
    });
  }

  const Schedule& schedule_;
  const GoalOptions& options_;
  const std::function<void(std::string_view)>& write_;
  std::string buffer_;
  GoalSummary summary_;
  AgentId rank_;
  LaneId lane_;
  std::vector<InPort> ins_;
  std::vector<OutPort> outs_;
};

}  // namespace

GoalSummary export_goal(const Schedule& schedule, const GoalOptions& options,
                        const std::function<void(std::string_view)>& write) {
  return Exporter(schedule, options, write).run();
}

}  // namespace athanor
