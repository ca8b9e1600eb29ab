#include "tests/algorithms/toy_schedules.hpp"

namespace athanor::toys {

Primitive Table::at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const {
  const ToyLane& table = at(agent, lane);
  return table.primitives[loop * table.shape.steps + step];
}

ToyLane& Table::add(std::uint32_t agent, std::vector<Primitive> primitives) {
  std::uint32_t program = 0;
  for (const auto& lanes : agents) { program += static_cast<std::uint32_t>(lanes.size()); }
  const Lane shape{static_cast<std::uint32_t>(primitives.size()), 1, 0, 0, ProgramId{program}};
  return agents[agent].emplace_back(ToyLane{shape, std::move(primitives), {}, {}});
}

void Table::join(std::uint32_t from_agent, std::uint32_t from_lane, std::uint32_t to_agent, std::uint32_t to_lane) {
  ToyLane& from = lane(from_agent, from_lane);
  ToyLane& to = lane(to_agent, to_lane);
  from.targets.push_back({AgentId{to_agent}, LaneId{to_lane}, PortId{to.shape.in_ports++}});
  to.sources.push_back({AgentId{from_agent}, LaneId{from_lane}, PortId{from.shape.out_ports++}});
}

void Table::separate_programs() {
  std::uint32_t program = 0;
  for (auto& lanes : agents) {
    for (ToyLane& lane : lanes) { lane.shape.program = ProgramId{program++}; }
  }
}

Table empty(std::uint32_t ranks, Elements input, Elements output, Elements scratch) {
  Table table;
  table.agent_counts = {ranks, ranks};
  table.agents.resize(ranks);
  table.memories.assign(ranks, Memory{input, output, scratch, {}});
  table.limit = Elements{1000};
  return table;
}

namespace {

ToyLane tabulate_lane(const Schedule& schedule, AgentId agent, LaneId lane) {
  ToyLane table{schedule.lane(agent, lane), {}, {}, {}};
  for (std::uint64_t loop = 0; loop < table.shape.loops; ++loop) {
    for (std::uint32_t step = 0; step < table.shape.steps; ++step) {
      table.primitives.push_back(schedule.at(agent, lane, loop, step));
    }
  }
  for (std::uint32_t port = 0; port < table.shape.out_ports; ++port) {
    table.targets.push_back(schedule.target(agent, lane, PortId{port}));
  }
  for (std::uint32_t port = 0; port < table.shape.in_ports; ++port) {
    table.sources.push_back(schedule.source(agent, lane, PortId{port}));
  }
  return table;
}

}  // namespace

Table tabulate(const Schedule& schedule) {
  Table table;
  table.agent_counts = schedule.agent_count();
  table.agents.resize(table.agent_counts.agents);
  for (std::uint32_t agent = 0; agent < table.agent_counts.agents; ++agent) {
    table.memories.push_back(schedule.memory(AgentId{agent}));
    for (std::uint32_t lane = 0; lane < schedule.lanes(AgentId{agent}); ++lane) {
      table.agents[agent].push_back(tabulate_lane(schedule, AgentId{agent}, LaneId{lane}));
    }
  }
  table.limit = schedule.message_limit();
  for (const Buffer buffer : {Buffer::input, Buffer::output, Buffer::scratch}) {
    table.shifts[static_cast<std::size_t>(buffer)] = schedule.shift(buffer);
  }
  table.slots = schedule.least_slots();
  return table;
}

Cells input(std::int64_t first) { return {Buffer::input, Elements{first}, {}, {}}; }
Cells output(std::int64_t first) { return {Buffer::output, Elements{first}, {}, {}}; }
Cells scratch(std::int64_t first) { return {Buffer::scratch, Elements{first}, {}, {}}; }

Primitive send(std::int64_t count, Cells from) {
  Primitive primitive;
  primitive.count = Elements{count};
  primitive.operands[0] = from;
  primitive.sends = {0, 1};
  return primitive;
}

Primitive receive(std::int64_t count, Cells into) {
  Primitive primitive;
  primitive.count = Elements{count};
  primitive.receives = {0, 1};
  primitive.store = into;
  return primitive;
}

Primitive copy(std::int64_t count, Cells from, Cells into) {
  Primitive primitive;
  primitive.count = Elements{count};
  primitive.operands[0] = from;
  primitive.store = into;
  return primitive;
}

namespace {

constexpr std::int64_t kPiece = 2;

/// Step s of a rank: reduce on the way round (s < ranks), then pass the results round once more.
Primitive ring_primitive(std::int64_t ranks, std::int64_t rank, std::int64_t loop, std::int64_t step) {
  const std::int64_t piece = ((rank - step) % ranks + ranks) % ranks;
  const std::int64_t first = (loop * ranks + piece) * kPiece;
  Primitive primitive;
  primitive.count = Elements{kPiece};
  if (step > 0) { primitive.receives = {0, 1}; }
  if (step < 2 * ranks - 2) { primitive.sends = {0, 1}; }
  if (step < ranks) { primitive.operands[0] = input(first); }
  if (step >= ranks - 1) { primitive.store = output(first); }
  primitive.finish = step == ranks - 1;
  return primitive;
}

}  // namespace

Ring ring_all_reduce(std::uint32_t ranks, std::uint64_t loops) {
  const Elements count{static_cast<std::int64_t>(ranks * loops) * kPiece};
  Table table = empty(ranks, count, count, {});
  const std::uint32_t steps = 2 * ranks - 1;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::vector<Primitive> primitives;
    for (std::uint64_t loop = 0; loop < loops; ++loop) {
      for (std::uint32_t step = 0; step < steps; ++step) {
        primitives.push_back(ring_primitive(ranks, rank, static_cast<std::int64_t>(loop), step));
      }
    }
    table.add(rank, std::move(primitives)).shape = {steps, loops, 0, 0, ProgramId{0}};
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank) { table.join(rank, 0, (rank + 1) % ranks, 0); }
  table.shifts = {Elements{kPiece * ranks}, Elements{kPiece * ranks}, {}};
  table.slots = 2;
  return {std::move(table), {CollectiveKind::all_reduce, ranks, count, 0}};
}

Chain chain_broadcast() {
  Table table = empty(3, {}, Elements{4}, {});
  table.memories[0].input = Elements{4};
  Primitive first = send(4, input(0));
  first.store = output(0);
  Primitive forward = send(4, output(0));
  forward.wait = Wait{LaneId{0}, 1};
  table.add(0, {first});
  table.add(1, {receive(4, output(0))});
  table.add(1, {forward});
  table.add(2, {receive(4, output(0))});
  table.join(0, 0, 1, 0);
  table.join(1, 1, 2, 0);
  return {std::move(table), {CollectiveKind::broadcast, 3, Elements{4}, 0}};
}

}  // namespace athanor::toys
