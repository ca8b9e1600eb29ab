#include "algorithms/formats/goal_rank_writer.hpp"

#include <algorithm>
#include <utility>

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/units.hpp"

namespace athanor {

namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;

[[noreturn]] void refuse(std::string reason) {
  throw ScenarioError(Problem{"no-goal-form", std::move(reason), {}, ""});
}

std::uint64_t primitives_of(const Lane& shape) { return std::uint64_t{shape.loops} * shape.steps; }

}  // namespace

std::uint64_t goal_tags(const Schedule& schedule) {
  std::uint64_t most = 0;
  for (std::uint32_t rank = 0; rank < schedule.agent_count().ranks; ++rank) {
    std::uint64_t ports = 0;
    std::uint64_t longest = 0;
    for (std::uint32_t lane = 0; lane < schedule.lanes(AgentId{rank}); ++lane) {
      const Lane shape = schedule.lane(AgentId{rank}, LaneId{lane});
      ports += shape.in_ports;
      longest = std::max(longest, primitives_of(shape));
    }
    most = std::max(most, ports * longest);
  }
  return most;
}

GoalRankWriter::GoalRankWriter(const Schedule& schedule, AgentId rank, const GoalOptions& options, GoalPlace place,
                               GoalText& text, GoalSummary& summary)
    : schedule_(schedule), rank_(rank), options_(options), place_(std::move(place)), text_(text), summary_(summary) {
  require(options.element_bytes > 0 && options.reduced_per_second >= 0, "elements of {} bytes, reduced at {}/s",
          options.element_bytes, options.reduced_per_second);
}

void GoalRankWriter::write() {
  for (std::uint32_t lane = 0; lane < schedule_.lanes(rank_); ++lane) { write_lane(LaneId{lane}); }
  for (std::uint32_t lane = 0; lane < schedule_.lanes(rank_); ++lane) { write_waits(LaneId{lane}); }
}

std::vector<std::string> GoalRankWriter::ends() const {
  std::vector<std::string> labels;
  for (std::uint32_t lane = 0; lane < schedule_.lanes(rank_); ++lane) {
    const std::uint64_t primitives = primitives_of(schedule_.lane(rank_, LaneId{lane}));
    if (primitives > 0) { labels.push_back(label('p', LaneId{lane}, primitives - 1)); }
  }
  return labels;
}

/// visit(index, primitive) for all of a lane.
template <class Visit>
void GoalRankWriter::each_primitive(LaneId lane, Visit visit) const {
  const Lane shape = schedule_.lane(rank_, lane);
  std::uint64_t index = 0;
  for (std::uint64_t loop = 0; loop < shape.loops; ++loop) {
    for (std::uint32_t step = 0; step < shape.steps; ++step) { visit(index++, schedule_.at(rank_, lane, loop, step)); }
  }
}

/// Tags of what arrives at an in-port: its number among all in-ports of its rank, and so on by their number.
GoalRankWriter::Tags GoalRankWriter::tags_of(const Endpoint& end) const {
  Tags tags{end.port.value, 0};
  for (std::uint32_t lane = 0; lane < schedule_.lanes(end.agent); ++lane) {
    const std::uint32_t ports = schedule_.lane(end.agent, LaneId{lane}).in_ports;
    if (lane < end.lane.value) { tags.first += ports; }
    tags.step += ports;
  }
  return tags;
}

std::uint32_t GoalRankWriter::tag(const Tags& tags, std::uint64_t message) const {
  const Wide tag = Wide{place_.first_tag} + Wide{tags.first} + Wide{tags.step} * Wide{message};
  if (tag > UINT32_MAX) { refuse("there are more messages to one rank than GOAL has tags (2^32)"); }
  return static_cast<std::uint32_t>(tag);
}

std::uint32_t GoalRankWriter::peer_of(AgentId agent) const {
  return place_.ranks.empty() ? agent.value : place_.ranks[agent.value];
}

void GoalRankWriter::write_lane(LaneId lane) {
  lane_ = lane;
  open_ports(schedule_.lane(rank_, lane));
  each_primitive(lane, [&](std::uint64_t index, const Primitive& primitive) { write_primitive(index, primitive); });
}

void GoalRankWriter::open_ports(const Lane& shape) {
  ins_.clear();
  outs_.clear();
  for (std::uint32_t port = 0; port < shape.in_ports; ++port) {
    const Endpoint from = schedule_.source(rank_, lane_, PortId{port});
    InPort in{peer_of(from.agent), tags_of({rank_, lane_, PortId{port}}), 0, {}};
    in.users.resize(schedule_.least_slots());
    ins_.push_back(std::move(in));
  }
  for (std::uint32_t port = 0; port < shape.out_ports; ++port) {
    const Endpoint to = schedule_.target(rank_, lane_, PortId{port});
    outs_.push_back({peer_of(to.agent), tags_of(to), 0});
  }
}

std::int64_t GoalRankWriter::bytes(const Primitive& primitive) const {
  return (primitive.count * options_.element_bytes).count();
}

std::int64_t GoalRankWriter::nanoseconds(const Primitive& primitive) const {
  if (options_.reduced_per_second == 0 || primitive.inputs() < 2) { return 0; }
  const Wide work = Wide{bytes(primitive)} * (primitive.inputs() - 1) * kNanoseconds;
  const Wide time = (work + options_.reduced_per_second - 1) / options_.reduced_per_second;
  if (time > INT64_MAX) { refuse("a reduction takes longer than 2^63 ns at this rate"); }
  return static_cast<std::int64_t>(time);
}

/// A single send that follows at once is the primitive; else it has a body that the sends, if any, follow.
bool GoalRankWriter::has_body(const Primitive& primitive) const {
  return primitive.sends.count != 1 || nanoseconds(primitive) > 0;
}

/// Labels: p ends the primitive, b is its body where that is not the end, s one of several sends, r a receive.
std::string GoalRankWriter::label(char what, LaneId lane, std::uint64_t index) const {
  return fmt::format("{}{}{}_{}", place_.prefix, what, lane.value, index);
}

/// The operation that starts when receives, wait and the primitive before allow.
std::string GoalRankWriter::head(LaneId lane, std::uint64_t index, const Primitive& primitive) const {
  const bool body = has_body(primitive) && primitive.sends.count > 0;
  return label(body ? 'b' : 'p', lane, index);
}

void GoalRankWriter::write_primitive(std::uint64_t index, const Primitive& primitive) {
  for (std::uint32_t i = 0; i < primitive.receives.count; ++i) { write_receive(index, i, primitive); }
  const std::string start = head(lane_, index, primitive);
  const std::string end = label('p', lane_, index);
  if (has_body(primitive)) {
    text_.add("{}: calc {}{}\n", start, nanoseconds(primitive), place_.suffix);
    ++summary_.operations;
  }
  if (primitive.sends.count == 1) { write_send(end, primitive.sends.first, primitive); }
  if (index > 0) { text_.add("{} requires {}\n", start, label('p', lane_, index - 1)); }
  if (index == 0 && !place_.begin.empty()) { text_.add("{} requires {}\n", start, place_.begin); }
  for (std::uint32_t i = 0; i < primitive.receives.count; ++i) {
    text_.add("{} requires {}_{}\n", start, label('r', lane_, index), i);
  }
  if (primitive.sends.count == 1 && has_body(primitive)) { text_.add("{} requires {}\n", end, start); }
  if (primitive.sends.count > 1) { write_sends(index, primitive, start); }
}

void GoalRankWriter::write_receive(std::uint64_t index, std::uint32_t i, const Primitive& primitive) {
  InPort& port = ins_[primitive.receives.first + i];
  const std::string own = fmt::format("{}_{}", label('r', lane_, index), i);
  text_.add("{}: recv {}b from {} tag {}{}\n", own, std::max<std::int64_t>(1, bytes(primitive)), port.peer,
            tag(port.tags, port.received), place_.suffix);
  ++summary_.operations;
  std::uint64_t& user = port.users[port.received % port.users.size()];
  if (port.received >= port.users.size()) {
    text_.add("{} requires {}\n", own, label('p', lane_, user));
  } else if (!place_.begin.empty()) {
    text_.add("{} requires {}\n", own, place_.begin);
  }
  user = index;
  ++port.received;
}

void GoalRankWriter::write_send(const std::string& label, std::uint32_t out, const Primitive& primitive) {
  OutPort& port = outs_[out];
  const std::int64_t size = bytes(primitive);
  text_.add("{}: send {}b to {} tag {}{}\n", label, std::max<std::int64_t>(1, size), port.peer,
            tag(port.tags, port.sent), place_.suffix);
  ++port.sent;
  ++summary_.messages;
  ++summary_.operations;
  summary_.bytes += static_cast<std::uint64_t>(size);
  if (size == 0) { ++summary_.empty; }
}

void GoalRankWriter::write_sends(std::uint64_t index, const Primitive& primitive, const std::string& start) {
  const std::string end = label('p', lane_, index);
  text_.add("{}: calc 0{}\n", end, place_.suffix);
  ++summary_.operations;
  for (std::uint32_t i = 0; i < primitive.sends.count; ++i) {
    const std::string own = fmt::format("{}_{}", label('s', lane_, index), i);
    write_send(own, primitive.sends.first + i, primitive);
    text_.add("{} requires {}\n{} requires {}\n", own, start, end, own);
  }
}

/// After all lanes, because a label may be used only below its definition.
void GoalRankWriter::write_waits(LaneId lane) {
  each_primitive(lane, [&](std::uint64_t index, const Primitive& primitive) {
    if (!primitive.wait || primitive.wait->ended == 0 || primitive.wait->lane == lane) { return; }
    text_.add("{} requires {}\n", head(lane, index, primitive),
              label('p', primitive.wait->lane, primitive.wait->ended - 1));
  });
}

}  // namespace athanor
