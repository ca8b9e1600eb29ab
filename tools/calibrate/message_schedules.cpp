#include "tools/calibrate/message_schedules.hpp"

#include "tools/calibrate/sketch.hpp"

namespace athanor {

namespace {

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
void pour(Sketch& sketch, std::uint32_t from, std::uint32_t to, std::uint32_t messages) {
  const std::uint32_t out = sketch.lane(from);
  const std::uint32_t in = sketch.lane(to);
  sketch.connect(from, out, to, in);
  for (std::uint32_t i = 0; i < messages; ++i) {
    sketch.step(from, out, sending(kInput));
    sketch.step(to, in, receiving());
  }
}

}  // namespace

std::unique_ptr<const Schedule> carrying(std::uint32_t ranks, std::uint32_t hops, std::int64_t bytes) {
  Sketch sketch(ranks, {.input = 1, .output = 1, .in_place = {}});
  sketch.lane(0);
  sketch.lane(1);
  sketch.connect(0, 0, 1, 0);
  sketch.connect(1, 0, 0, 0);
  sketch.step(0, 0, sending(kInput));
  for (std::uint32_t hop = 1; hop < hops; ++hop) {
    TableStep pass = receiving();
    pass.sends = {0, 1};
    sketch.step(hop % 2, 0, pass);
  }
  sketch.step(hops % 2, 0, receiving());
  return sketch.stretched(bytes);
}

std::unique_ptr<const Schedule> pouring(std::uint32_t ranks, std::uint32_t messages, std::int64_t bytes) {
  Sketch sketch(ranks, {.input = 1, .output = 1, .in_place = {}});
  pour(sketch, 0, 1, messages);
  return sketch.stretched(bytes, messages);
}

std::unique_ptr<const Schedule> exchanging(std::uint32_t ranks, std::uint32_t messages, std::int64_t bytes) {
  Sketch sketch(ranks, {.input = 1, .output = 1, .in_place = {}});
  pour(sketch, 0, 1, messages);
  pour(sketch, 1, 0, messages);
  return sketch.stretched(bytes, messages);
}

std::unique_ptr<const Schedule> copying_side_by_side(std::uint32_t ranks, std::uint32_t active,
                                                     std::int64_t working_set, std::uint32_t passes) {
  Sketch sketch(ranks, {.input = 1, .output = 1, .in_place = {}});
  TableStep copy;
  copy.chunks = 1;
  copy.operands[0] = kInput;
  copy.store = kOutput;
  for (std::uint32_t rank = 0; rank < active; ++rank) {
    sketch.lane(rank);
    for (std::uint32_t pass = 0; pass < passes; ++pass) { sketch.step(rank, 0, copy); }
  }
  return sketch.stretched(working_set / 2);
}

std::unique_ptr<const Schedule> summing(std::uint32_t ranks, std::int64_t bytes, std::uint32_t passes) {
  Sketch sketch(ranks, {.input = 2, .output = 1, .in_place = {}});
  sketch.lane(0);
  TableStep sum;
  sum.chunks = 1;
  sum.operands[0] = kInput;
  sum.operands[1] = TableCells{1, Buffer::input};
  sum.store = kOutput;
  for (std::uint32_t pass = 0; pass < passes; ++pass) { sketch.step(0, 0, sum); }
  return sketch.stretched(bytes);
}

}  // namespace athanor
