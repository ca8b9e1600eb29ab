#include "tools/calibrate/probe_schedules.hpp"

#include <algorithm>

#include "tools/calibrate/sketch.hpp"

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
Sketch couple(TableMemory memory = {}) {
  Sketch sketch(2, memory);
  sketch.lane(0);
  sketch.lane(1);
  sketch.connect(0, 0, 1, 0);
  sketch.connect(1, 0, 0, 0);
  return sketch;
}

}  // namespace

std::unique_ptr<const Schedule> copying(std::int64_t working_set, std::uint32_t passes) {
  Sketch sketch(1, {.input = 1, .output = 1, .in_place = {}});
  sketch.lane(0);
  for (std::uint32_t i = 0; i < passes; ++i) { sketch.step(0, 0, copy(0)); }
  return sketch.stretched(working_set / 2);
}

std::unique_ptr<const Schedule> stream(std::uint32_t messages) {
  Sketch sketch(2);
  sketch.lane(0);
  sketch.lane(1);
  sketch.connect(0, 0, 1, 0);
  for (std::uint32_t i = 0; i < messages; ++i) {
    sketch.step(0, 0, token(0, 1));
    sketch.step(1, 0, token(1, 0));
  }
  return sketch.stretched(0, messages);
}

std::unique_ptr<const Schedule> ping_pong(std::uint32_t hops) {
  Sketch sketch = couple();
  sketch.step(0, 0, token(0, 1));
  for (std::uint32_t hop = 1; hop < hops; ++hop) { sketch.step(hop % 2, 0, token(1, 1)); }
  sketch.step(hops % 2, 0, token(1, 0));
  return sketch.stretched(0);
}

std::unique_ptr<const Schedule> fetching(std::uint32_t rounds, std::int64_t bytes) {
  Sketch sketch = couple({.input = rounds, .output = rounds, .in_place = {}});
  for (std::uint32_t round = 0; round < rounds; ++round) {
    TableStep fill = copy(round);
    fill.operands[0]->first = 0;
    fill.sends = {0, 1};
    sketch.step(0, 0, fill);
    TableStep fetch;
    fetch.chunks = 1;
    fetch.receives = {0, 1};
    fetch.store = TableCells{round, Buffer::output};
    sketch.step(1, 0, fetch);
    sketch.step(1, 0, token(0, 1));
    sketch.step(0, 0, token(1, 0));
  }
  return sketch.stretched(bytes);
}

std::unique_ptr<const Schedule> working_and_calling(std::uint32_t rounds, std::uint32_t copies) {
  constexpr std::int64_t kBlock = 32 << 10;
  Sketch sketch = couple({.input = 1, .output = 1, .in_place = {}});
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::uint32_t i = 0; i < copies; ++i) { sketch.step(0, 0, copy(0)); }
    sketch.step(0, 0, token(0, 1));
    sketch.step(1, 0, token(1, 1));
    sketch.step(0, 0, token(1, 0));
  }
  return sketch.stretched(kBlock);
}

}  // namespace athanor
