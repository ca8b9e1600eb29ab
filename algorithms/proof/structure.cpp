#include "algorithms/proof/structure.hpp"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "algorithms/proof/memory_map.hpp"
#include "algorithms/schedule/contract.hpp"

namespace athanor {

namespace {

/// Bounds of the cells in their buffer: [first, second). Requires count > 0, run >= 0 and stride >= 0.
std::pair<std::int64_t, std::int64_t> bounds(const Cells& cells, Elements count) {
  if (cells.run == Elements::zero()) { return {cells.first.count(), (cells.first + count).count()}; }
  const std::int64_t runs = ceil_div(count.count(), cells.run.count());
  const Elements last = cells.first + cells.stride * (runs - 1);
  const Elements end = last + (count - cells.run * (runs - 1));
  const Elements full = runs > 1 ? last - cells.stride + cells.run : end;
  return {cells.first.count(), std::max(end, full).count()};
}

Elements size_of(const Memory& memory, Buffer buffer) {
  switch (buffer) {
    case Buffer::input: return memory.input;
    case Buffer::output: return memory.output;
    case Buffer::scratch: return memory.scratch;
  }
  return Elements::zero();
}

/// Does the store overwrite an operand's cell before or after its own element is read? Such a primitive depends on the
/// order in which it walks its elements.
bool smears(const MemoryMap& map, const Cells& store, const Cells& operand, Elements count) {
  const auto [store_first, store_end] = bounds(store, count);
  const auto [operand_first, operand_end] = bounds(operand, count);
  const std::int64_t store_base = map.base(store.buffer);
  const std::int64_t operand_base = map.base(operand.buffer);
  if (store_end + store_base <= operand_first + operand_base ||
      operand_end + operand_base <= store_first + store_base) {
    return false;
  }
  if (store.run == operand.run && store.stride == operand.stride) {
    const bool same = map.address(store, 0) == map.address(operand, 0);
    if (same || store.run == Elements::zero()) { return !same; }
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> stored;
  for (std::int64_t k = 0; k < count.count(); ++k) { stored.emplace_back(map.address(store, k), k); }
  std::sort(stored.begin(), stored.end());
  for (std::int64_t k = 0; k < count.count(); ++k) {
    const std::int64_t address = map.address(operand, k);
    const auto found = std::lower_bound(stored.begin(), stored.end(), std::pair{address, std::int64_t{0}});
    if (found != stored.end() && found->first == address && found->second != k) { return true; }
  }
  return false;
}

class PrimitiveCheck {
 public:
  PrimitiveCheck(const Schedule& schedule, const Wiring& wiring)
      : schedule_(schedule), wiring_(wiring), limit_(schedule.message_limit()) {
    for (const Buffer buffer : {Buffer::input, Buffer::output, Buffer::scratch}) {
      shift_[static_cast<std::size_t>(buffer)] = schedule.shift(buffer);
    }
  }

  std::optional<Violation> run() {
    for (AgentId agent{0}; agent.value + 1 < wiring_.first_lane.size(); ++agent.value) {
      if (auto violation = run(agent)) { return violation; }
    }
    return std::nullopt;
  }

  std::optional<Violation> run(AgentId agent) {
    memory_ = schedule_.memory(agent);
    map_ = MemoryMap(memory_);
    for (std::uint32_t lane = wiring_.first_lane[agent.value]; lane < wiring_.first_lane[agent.value + 1]; ++lane) {
      if (auto violation = check_lane(wiring_.lanes[lane])) { return violation; }
    }
    return std::nullopt;
  }

 private:
  std::optional<Violation> check_lane(const WiredLane& lane) {
    lane_ = &lane;
    first_loop_.clear();
    waits_.clear();
    for (std::uint64_t index = 0; index < lane.primitives(); ++index) {
      const Primitive primitive = lane.at(schedule_, index);
      if (check_alone(primitive) && check_loop(primitive, index)) { continue; }
      return Violation{kind_, lane.place(index), text_};
    }
    return std::nullopt;
  }

  bool fail(ViolationKind kind, std::string text) {
    kind_ = kind;
    text_ = std::move(text);
    return false;
  }

  bool check_alone(const Primitive& primitive) {
    if (primitive.count < Elements::zero()) { return fail(ViolationKind::cells, "a negative count"); }
    if (!check_ports(primitive.receives, lane_->shape.in_ports, "in") ||
        !check_ports(primitive.sends, lane_->shape.out_ports, "out")) {
      return false;
    }
    if (primitive.count > limit_ && (primitive.receives.count > 0 || primitive.sends.count > 0)) {
      return fail(ViolationKind::message_limit, fmt::format("a message of {} elements exceeds the limit of {}",
                                                            primitive.count.count(), limit_.count()));
    }
    return check_wait(primitive) && check_cells(primitive);
  }

  bool check_ports(const Ports& ports, std::uint32_t available, std::string_view direction) {
    if (ports.count <= available && ports.first <= available - ports.count) { return true; }
    return fail(ViolationKind::ports, fmt::format("{}-ports {} to {} of a lane that has {}", direction, ports.first,
                                                  std::uint64_t{ports.first} + ports.count - 1, available));
  }

  bool check_wait(const Primitive& primitive) {
    if (!primitive.wait) { return true; }
    const std::uint32_t lanes = wiring_.lanes_of(lane_->agent);
    if (primitive.wait->lane.value >= lanes) {
      return fail(ViolationKind::wait,
                  fmt::format("waits for lane {} of an agent that has {}", primitive.wait->lane.value, lanes));
    }
    const std::uint64_t total = wiring_.lanes[wiring_.index(lane_->agent, primitive.wait->lane)].primitives();
    if (primitive.wait->ended <= total) { return true; }
    return fail(ViolationKind::wait, fmt::format("waits for {} primitives of lane {}, which has {}",
                                                 primitive.wait->ended, primitive.wait->lane.value, total));
  }

  bool check_cells(const Primitive& primitive) {
    if (primitive.count == Elements::zero()) { return true; }
    for (const auto& operand : primitive.operands) {
      if (operand && !check_inside(*operand, primitive.count, "operand")) { return false; }
    }
    if (!primitive.store) { return true; }
    const Cells& store = *primitive.store;
    if (!check_inside(store, primitive.count, "store")) { return false; }
    if (store.buffer == Buffer::input) { return fail(ViolationKind::cells, "stores into the input"); }
    if (store.run > Elements::zero() && store.stride < store.run && primitive.count > store.run) {
      return fail(ViolationKind::cells, "stores twice into one cell");
    }
    for (const auto& operand : primitive.operands) {
      if (operand && !(*operand == store) && smears(map_, store, *operand, primitive.count)) {
        return fail(ViolationKind::cells, "stores over an operand of another element");
      }
    }
    return true;
  }

  bool check_inside(const Cells& cells, Elements count, std::string_view role) {
    if (cells.run < Elements::zero() || cells.stride < Elements::zero()) {
      return fail(ViolationKind::cells, fmt::format("{} with a negative run or stride", role));
    }
    const auto [first, end] = bounds(cells, count);
    const std::int64_t size = size_of(memory_, cells.buffer).count();
    if (first >= 0 && end <= size) { return true; }
    return fail(ViolationKind::cells,
                fmt::format("{} [{}, {}) outside the {} of {} elements", role, first, end, name(cells.buffer), size));
  }

  bool check_loop(const Primitive& primitive, std::uint64_t index) {
    const std::uint64_t loop = index / lane_->shape.steps;
    if (loop + 1 >= lane_->shape.loops) { return true; }
    if (loop == 0) {
      first_loop_.push_back(primitive);
      waits_.push_back(primitive.wait);
      return true;
    }
    const Primitive& first = first_loop_[index % lane_->shape.steps];
    const auto far = static_cast<std::int64_t>(loop);
    if (!moved(first.store, primitive.store, far) || !moved(first.operands[0], primitive.operands[0], far) ||
        !moved(first.operands[1], primitive.operands[1], far)) {
      return fail(ViolationKind::loops, "cells are not those of loop 0 moved by the shift");
    }
    if (primitive.count != first.count || !(primitive.receives == first.receives) ||
        !(primitive.sends == first.sends) || primitive.finish != first.finish) {
      return fail(ViolationKind::loops, "count, ports or finish differ from loop 0");
    }
    return check_moved_wait(waits_[index % lane_->shape.steps], primitive.wait);
  }

  bool moved(const std::optional<Cells>& from, const std::optional<Cells>& to, std::int64_t loops) const {
    if (from.has_value() != to.has_value()) { return false; }
    if (!from) { return true; }
    return from->buffer == to->buffer && from->run == to->run && from->stride == to->stride &&
           to->first == from->first + shift_[static_cast<std::size_t>(from->buffer)] * loops;
  }

  /// A wait for something of loops before holds at once in the first loops (0 primitives).
  bool check_moved_wait(std::optional<Wait>& before, const std::optional<Wait>& now) {
    if (before.has_value() != now.has_value() || (now && now->lane != before->lane)) {
      return fail(ViolationKind::loops, "does not wait for the same lane as loop 0");
    }
    if (!now) { return true; }
    const std::uint64_t steps = wiring_.lanes[wiring_.index(lane_->agent, now->lane)].shape.steps;
    const bool right = now->ended == before->ended + steps || (before->ended == 0 && now->ended <= steps);
    before = now;
    return right ||
           fail(ViolationKind::loops, fmt::format("the wait is not that of the loop before and {} more", steps));
  }

  const Schedule& schedule_;
  const Wiring& wiring_;
  Elements limit_;
  std::array<Elements, 3> shift_;
  Memory memory_;
  MemoryMap map_{Memory{}};
  const WiredLane* lane_ = nullptr;
  std::vector<Primitive> first_loop_;
  std::vector<std::optional<Wait>> waits_;  ///< of each step in the loop before
  ViolationKind kind_ = ViolationKind::cells;
  std::string text_;
};

/// The output element that a rank's input begins at, if the collective is done in place.
std::optional<std::int64_t> shared_from(const Contract& contract, const Collective& collective, std::uint32_t rank) {
  const std::optional<Elements> first = contract.in_place(rank);
  return collective.in_place && first ? std::optional(first->count()) : std::nullopt;
}

bool same_shape(const Lane& a, const Lane& b) {
  return a.steps == b.steps && a.loops == b.loops && a.in_ports == b.in_ports && a.out_ports == b.out_ports;
}

bool same_buffer(const std::optional<Cells>& a, const std::optional<Cells>& b) {
  return a.has_value() == b.has_value() && (!a || a->buffer == b->buffer);
}

/// In what two primitives of one program differ; empty: in addresses only.
std::string_view difference(const Primitive& a, LaneId a_lane, const Primitive& b, LaneId b_lane, bool equal_counts) {
  if (!(a.receives == b.receives) || !(a.sends == b.sends)) { return "ports"; }
  if (!same_buffer(a.operands[0], b.operands[0]) || !same_buffer(a.operands[1], b.operands[1])) { return "operands"; }
  if (!same_buffer(a.store, b.store)) { return "store"; }
  if (a.finish != b.finish) { return "finish"; }
  if (equal_counts && a.count != b.count) { return "count"; }
  if (a.wait.has_value() != b.wait.has_value()) { return "wait"; }
  if (a.wait &&
      (a.wait->ended != b.wait->ended || a.wait->lane.value - a_lane.value != b.wait->lane.value - b_lane.value)) {
    return "wait";
  }
  return "";
}

class ProgramCheck {
 public:
  ProgramCheck(const Schedule& schedule, const Wiring& wiring, bool equal_counts)
      : schedule_(schedule), wiring_(wiring), equal_counts_(equal_counts) {}

  /// Lanes of one program side by side, so that one program's primitives are kept at a time.
  std::optional<Violation> run() {
    std::vector<std::uint32_t> order(wiring_.lanes.size());
    for (std::uint32_t lane = 0; lane < order.size(); ++lane) { order[lane] = lane; }
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return wiring_.lanes[a].shape.program < wiring_.lanes[b].shape.program;
    });
    for (std::size_t i = 1; i < order.size(); ++i) {
      const WiredLane& lane = wiring_.lanes[order[i]];
      const WiredLane& before = wiring_.lanes[order[i - 1]];
      if (lane.shape.program != before.shape.program) {
        model_ = nullptr;
        continue;
      }
      if (model_ == nullptr) { take_as_model(before); }
      if (auto violation = compare(lane)) { return violation; }
    }
    return std::nullopt;
  }

 private:
  void take_as_model(const WiredLane& lane) {
    model_ = &lane;
    primitives_.clear();
    for (std::uint64_t index = 0; index < lane.primitives(); ++index) { primitives_.push_back(at(lane, index)); }
  }

  Primitive at(const WiredLane& lane, std::uint64_t index) const {
    return schedule_.at(lane.agent, lane.lane, index / lane.shape.steps,
                        static_cast<std::uint32_t>(index % lane.shape.steps));
  }

  std::optional<Violation> compare(const WiredLane& lane) const {
    if (!same_shape(model_->shape, lane.shape)) {
      return differ({lane.agent, lane.lane, {}, {}}, "loops, steps or numbers of ports");
    }
    for (std::uint64_t index = 0; index < lane.primitives(); ++index) {
      const std::string_view what =
          difference(primitives_[index], model_->lane, at(lane, index), lane.lane, equal_counts_);
      if (!what.empty()) { return differ(lane.place(index), what); }
    }
    return std::nullopt;
  }

  Violation differ(const StepPlace& place, std::string_view what) const {
    return {ViolationKind::program, place,
            fmt::format("differs in {} from {}, which is of the same program {}", what,
                        describe(schedule_.agent_count(), {model_->agent, model_->lane, {}, {}}),
                        model_->shape.program.value)};
  }

  const Schedule& schedule_;
  const Wiring& wiring_;
  bool equal_counts_;
  const WiredLane* model_ = nullptr;
  std::vector<Primitive> primitives_;
};

}  // namespace

std::optional<Violation> check_memory(const Schedule& schedule, const Collective& collective) {
  const Contract contract(collective);
  const AgentCount agent_count = schedule.agent_count();
  const auto fail = [](std::uint32_t agent, std::string text) {
    return Violation{ViolationKind::memory, {AgentId{agent}, {}, {}, {}}, std::move(text)};
  };
  if (agent_count.ranks != collective.ranks || agent_count.agents < agent_count.ranks) {
    return fail(0, fmt::format("the schedule has {} ranks among {} agents, the collective {} ranks", agent_count.ranks,
                               agent_count.agents, collective.ranks));
  }
  for (std::uint32_t agent = 0; agent < agent_count.agents; ++agent) {
    const bool engine = agent >= agent_count.ranks;
    const Memory memory = schedule.memory(AgentId{agent});
    const Elements input = engine ? Elements::zero() : contract.input(agent);
    const Elements output = engine ? Elements::zero() : contract.output(agent);
    if (memory.input != input || memory.output != output) {
      return fail(agent, fmt::format("input and output hold {} and {} elements instead of {} and {}",
                                     memory.input.count(), memory.output.count(), input.count(), output.count()));
    }
    const bool both = input > Elements::zero() && output > Elements::zero();
    if (both && memory.in_place != shared_from(contract, collective, agent)) {
      return fail(agent, fmt::format("the input {}, unlike the collective's",
                                     memory.in_place ? fmt::format("is the output from element {} on", *memory.in_place)
                                                     : "does not share the output's memory"));
    }
  }
  return std::nullopt;
}

std::optional<Violation> check_primitives(const Schedule& schedule, const Wiring& wiring) {
  return PrimitiveCheck(schedule, wiring).run();
}

std::optional<Violation> check_primitives_of(const Schedule& schedule, const Wiring& wiring, AgentId agent) {
  return PrimitiveCheck(schedule, wiring).run(agent);
}

std::optional<Violation> check_programs(const Schedule& schedule, const Wiring& wiring, bool equal_counts) {
  return ProgramCheck(schedule, wiring, equal_counts).run();
}

}  // namespace athanor
