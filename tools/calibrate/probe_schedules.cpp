#include "tools/calibrate/probe_schedules.hpp"

#include <algorithm>

namespace athanor {

namespace {

TableStep copy(std::uint32_t chunk) {
  TableStep step;
  step.chunks = 1;
  step.operands[0] = TableCells{chunk, Buffer::input};
  step.store = TableCells{chunk, Buffer::output};
  return step;
}

/// Empty messages in and out, each on the port of that number or on none.
TableStep token(std::uint32_t receives, std::uint32_t sends) {
  TableStep step;
  step.receives = {0, receives};
  step.sends = {0, sends};
  return step;
}

/// Two ranks of one lane each, joined in both directions.
ScheduleBuilder couple(TableMemory memory = {}) {
  ScheduleBuilder builder(2, memory);
  builder.lane(0);
  builder.lane(1);
  builder.connect(0, 0, 1, 0);
  builder.connect(1, 0, 0, 0);
  return builder;
}

constexpr TableCells kInput{0, Buffer::input};
constexpr TableCells kOutput{0, Buffer::output};

TableStep sending(TableCells from) {
  TableStep step;
  step.chunks = 1;
  step.operands[0] = from;
  step.sends = {0, 1};
  return step;
}

TableStep receiving() {
  TableStep step;
  step.chunks = 1;
  step.receives = {0, 1};
  step.store = kOutput;
  return step;
}

/// Lane 0 of `from` sends to the last lane of `to`.
void pour(ScheduleBuilder& builder, std::uint32_t from, std::uint32_t to, std::uint32_t messages) {
  const std::uint32_t out = builder.lane(from);
  const std::uint32_t in = builder.lane(to);
  builder.connect(from, out, to, in);
  for (std::uint32_t i = 0; i < messages; ++i) {
    builder.step(from, out, sending(kInput));
    builder.step(to, in, receiving());
  }
}

}  // namespace

std::uint32_t ScheduleBuilder::lane(std::uint32_t rank) {
  lanes_[rank].emplace_back();
  return static_cast<std::uint32_t>(lanes_[rank].size() - 1);
}

void ScheduleBuilder::connect(std::uint32_t from, std::uint32_t from_lane, std::uint32_t to, std::uint32_t to_lane) {
  std::vector<Endpoint>& targets = lanes_[from][from_lane].targets;
  std::vector<Endpoint>& sources = lanes_[to][to_lane].sources;
  const PortId out{static_cast<std::uint32_t>(targets.size())};
  const PortId in{static_cast<std::uint32_t>(sources.size())};
  targets.push_back({AgentId{to}, LaneId{to_lane}, in});
  sources.push_back({AgentId{from}, LaneId{from_lane}, out});
}

std::shared_ptr<const Table> ScheduleBuilder::table(std::uint32_t slots) const {
  Table table;
  table.memories = memories_;
  table.least_slots = slots;
  for (const auto& lanes : lanes_) {
    table.first_lane.push_back(static_cast<std::uint32_t>(table.lanes.size()));
    for (const LaneDraft& lane : lanes) {
      table.lanes.push_back({.first_step = static_cast<std::uint32_t>(table.steps.size()),
                             .steps = static_cast<std::uint32_t>(lane.steps.size()),
                             .first_in = static_cast<std::uint32_t>(table.sources.size()),
                             .in_ports = static_cast<std::uint32_t>(lane.sources.size()),
                             .first_out = static_cast<std::uint32_t>(table.targets.size()),
                             .out_ports = static_cast<std::uint32_t>(lane.targets.size()),
                             .program = ProgramId{0}});
      table.steps.insert(table.steps.end(), lane.steps.begin(), lane.steps.end());
      table.sources.insert(table.sources.end(), lane.sources.begin(), lane.sources.end());
      table.targets.insert(table.targets.end(), lane.targets.begin(), lane.targets.end());
    }
  }
  table.first_lane.push_back(static_cast<std::uint32_t>(table.lanes.size()));
  number_programs(table);
  return std::make_shared<const Table>(std::move(table));
}

std::unique_ptr<const Schedule> ScheduleBuilder::stretched(std::int64_t chunk, std::uint32_t slots) const {
  const Elements elements{chunk / 4};
  return std::make_unique<TableSchedule>(table(slots), elements, std::max(elements, Elements{1}));
}

std::unique_ptr<const Schedule> copying(std::int64_t working_set, std::uint32_t passes) {
  ScheduleBuilder builder(1, {.input = 1, .output = 1, .in_place = {}});
  builder.lane(0);
  for (std::uint32_t i = 0; i < passes; ++i) { builder.step(0, 0, copy(0)); }
  return builder.stretched(working_set / 2);
}

std::unique_ptr<const Schedule> stream(std::uint32_t messages) {
  ScheduleBuilder builder(2);
  builder.lane(0);
  builder.lane(1);
  builder.connect(0, 0, 1, 0);
  for (std::uint32_t i = 0; i < messages; ++i) {
    builder.step(0, 0, token(0, 1));
    builder.step(1, 0, token(1, 0));
  }
  return builder.stretched(0, messages);
}

std::unique_ptr<const Schedule> ping_pong(std::uint32_t hops) {
  ScheduleBuilder builder = couple();
  builder.step(0, 0, token(0, 1));
  for (std::uint32_t hop = 1; hop < hops; ++hop) { builder.step(hop % 2, 0, token(1, 1)); }
  builder.step(hops % 2, 0, token(1, 0));
  return builder.stretched(0);
}

std::unique_ptr<const Schedule> fetching(std::uint32_t rounds, std::int64_t bytes) {
  ScheduleBuilder builder = couple({.input = rounds, .output = rounds, .in_place = {}});
  for (std::uint32_t round = 0; round < rounds; ++round) {
    TableStep fill = copy(round);
    fill.operands[0]->first = 0;
    fill.sends = {0, 1};
    builder.step(0, 0, fill);
    TableStep fetch;
    fetch.chunks = 1;
    fetch.receives = {0, 1};
    fetch.store = TableCells{round, Buffer::output};
    builder.step(1, 0, fetch);
    builder.step(1, 0, token(0, 1));
    builder.step(0, 0, token(1, 0));
  }
  return builder.stretched(bytes);
}

std::unique_ptr<const Schedule> working_and_calling(std::uint32_t rounds, std::uint32_t copies) {
  constexpr std::int64_t kBlock = 32 << 10;
  ScheduleBuilder builder = couple({.input = 1, .output = 1, .in_place = {}});
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::uint32_t i = 0; i < copies; ++i) { builder.step(0, 0, copy(0)); }
    builder.step(0, 0, token(0, 1));
    builder.step(1, 0, token(1, 1));
    builder.step(0, 0, token(1, 0));
  }
  return builder.stretched(kBlock);
}

std::unique_ptr<const Schedule> carrying(std::uint32_t ranks, std::uint32_t hops, std::int64_t bytes) {
  ScheduleBuilder builder(ranks, {.input = 1, .output = 1, .in_place = {}});
  builder.lane(0);
  builder.lane(1);
  builder.connect(0, 0, 1, 0);
  builder.connect(1, 0, 0, 0);
  builder.step(0, 0, sending(kInput));
  for (std::uint32_t hop = 1; hop < hops; ++hop) {
    TableStep pass = receiving();
    pass.sends = {0, 1};
    builder.step(hop % 2, 0, pass);
  }
  builder.step(hops % 2, 0, receiving());
  return builder.stretched(bytes);
}

std::unique_ptr<const Schedule> pouring(std::uint32_t ranks, std::uint32_t messages, std::int64_t bytes) {
  ScheduleBuilder builder(ranks, {.input = 1, .output = 1, .in_place = {}});
  pour(builder, 0, 1, messages);
  return builder.stretched(bytes, messages);
}

std::unique_ptr<const Schedule> exchanging(std::uint32_t ranks, std::uint32_t messages, std::int64_t bytes) {
  ScheduleBuilder builder(ranks, {.input = 1, .output = 1, .in_place = {}});
  pour(builder, 0, 1, messages);
  pour(builder, 1, 0, messages);
  return builder.stretched(bytes, messages);
}

std::unique_ptr<const Schedule> copying_side_by_side(std::uint32_t ranks, std::uint32_t active,
                                                     std::int64_t working_set, std::uint32_t passes) {
  ScheduleBuilder builder(ranks, {.input = 1, .output = 1, .in_place = {}});
  TableStep copy;
  copy.chunks = 1;
  copy.operands[0] = kInput;
  copy.store = kOutput;
  for (std::uint32_t rank = 0; rank < active; ++rank) {
    builder.lane(rank);
    for (std::uint32_t pass = 0; pass < passes; ++pass) { builder.step(rank, 0, copy); }
  }
  return builder.stretched(working_set / 2);
}

std::unique_ptr<const Schedule> summing(std::uint32_t ranks, std::int64_t bytes, std::uint32_t passes) {
  ScheduleBuilder builder(ranks, {.input = 2, .output = 1, .in_place = {}});
  builder.lane(0);
  TableStep sum;
  sum.chunks = 1;
  sum.operands[0] = kInput;
  sum.operands[1] = TableCells{1, Buffer::input};
  sum.store = kOutput;
  for (std::uint32_t pass = 0; pass < passes; ++pass) { builder.step(0, 0, sum); }
  return builder.stretched(bytes);
}

}  // namespace athanor
