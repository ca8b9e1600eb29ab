#include "algorithms/combine/sequence.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "algorithms/combine/two_parts.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

std::uint64_t primitives(const Lane& lane) { return lane.loops * lane.steps; }

/// Lanes of the second schedule follow those of the first in number. The first of them begins with an empty primitive
/// per lane of the first schedule, which waits for its end; the others begin with one that waits for these.
class AfterAll final : public Schedule {
 public:
  AfterAll(std::unique_ptr<const Schedule> first, std::unique_ptr<const Schedule> second)
      : parts_(std::move(first), std::move(second)) {}

  Roster roster() const override { return parts_.roster(); }
  std::uint32_t lanes(AgentId agent) const override { return parts_.lanes(0, agent) + parts_.lanes(1, agent); }
  Lane lane(AgentId agent, LaneId lane) const override {
    const auto [part, inner] = inside(agent, lane);
    const Lane shape = parts_.part(part).lane(agent, inner);
    const std::uint64_t steps = primitives(shape) + (part == 0 ? 0 : waits(agent, inner));
    require(steps <= std::numeric_limits<std::uint32_t>::max(), "a lane of {} primitives is too long", steps);
    return {static_cast<std::uint32_t>(steps), 1, shape.in_ports, shape.out_ports, parts_.program(agent, lane)};
  }
  std::uint32_t channel(AgentId agent, LaneId lane) const override {
    const auto [part, inner] = inside(agent, lane);
    return parts_.part(part).channel(agent, inner);
  }
  Memory memory(AgentId agent) const override { return parts_.memory(agent); }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    const auto [part, inner] = inside(agent, lane);
    return outside(part, parts_.part(part).target(agent, inner, out));
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    const auto [part, inner] = inside(agent, lane);
    return outside(part, parts_.part(part).source(agent, inner, in));
  }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t, std::uint32_t step) const override {
    const auto [part, inner] = inside(agent, lane);
    const std::uint32_t before = part == 0 ? 0 : waits(agent, inner);
    if (step < before) { return wait(agent, inner, step); }
    const std::uint32_t steps = parts_.part(part).lane(agent, inner).steps;
    const std::uint32_t index = step - before;
    Primitive primitive = parts_.part(part).at(agent, inner, index / steps, index % steps);
    if (primitive.wait && part == 1) {
      primitive.wait->ended += waits(agent, primitive.wait->lane);
      primitive.wait->lane.value += parts_.lanes(0, agent);
    }
    return parts_.placed(part, agent, primitive);
  }
  Elements message_limit() const override { return parts_.message_limit(); }
  Elements shift(Buffer) const override { return Elements::zero(); }
  std::uint32_t least_slots() const override { return parts_.least_slots(); }

 private:
  std::pair<std::size_t, LaneId> inside(AgentId agent, LaneId lane) const {
    const std::uint32_t first = parts_.lanes(0, agent);
    return lane.value < first ? std::pair{std::size_t{0}, lane} : std::pair{std::size_t{1}, LaneId{lane.value - first}};
  }
  Endpoint outside(std::size_t part, Endpoint end) const {
    if (part == 1) { end.lane.value += parts_.lanes(0, end.agent); }
    return end;
  }
  /// Empty primitives at the begin of a lane of the second schedule.
  std::uint32_t waits(AgentId agent, LaneId inner) const {
    const std::uint32_t first = parts_.lanes(0, agent);
    return inner.value == 0 ? first : std::min(first, 1U);
  }
  Primitive wait(AgentId agent, LaneId inner, std::uint32_t step) const {
    const std::uint32_t first = parts_.lanes(0, agent);
    Primitive primitive;
    primitive.wait = inner.value == 0 ? Wait{LaneId{step}, primitives(parts_.part(0).lane(agent, LaneId{step}))}
                                      : Wait{LaneId{first}, first};
    return primitive;
  }

  TwoParts parts_;
};

/// Lanes of one number are one lane: its steps and ports are those of the first schedule, then those of the second.
class LoopByLoop final : public Schedule {
 public:
  LoopByLoop(std::unique_ptr<const Schedule> first, std::unique_ptr<const Schedule> second)
      : parts_(std::move(first), std::move(second)) {
    for (std::uint32_t agent = 0; agent < roster().agents; ++agent) { check(AgentId{agent}); }
  }

  Roster roster() const override { return parts_.roster(); }
  std::uint32_t lanes(AgentId agent) const override { return std::max(parts_.lanes(0, agent), parts_.lanes(1, agent)); }
  Lane lane(AgentId agent, LaneId lane) const override {
    const Lane first = shape(0, agent, lane);
    const Lane second = shape(1, agent, lane);
    return {first.steps + second.steps, std::max(first.loops, second.loops), first.in_ports + second.in_ports,
            first.out_ports + second.out_ports, parts_.program(agent, lane)};
  }
  Memory memory(AgentId agent) const override { return parts_.memory(agent); }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    const std::uint32_t first = shape(0, agent, lane).out_ports;
    if (out.value < first) { return parts_.part(0).target(agent, lane, out); }
    Endpoint end = parts_.part(1).target(agent, lane, PortId{out.value - first});
    end.port.value += shape(0, end.agent, end.lane).in_ports;
    return end;
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    const std::uint32_t first = shape(0, agent, lane).in_ports;
    if (in.value < first) { return parts_.part(0).source(agent, lane, in); }
    Endpoint end = parts_.part(1).source(agent, lane, PortId{in.value - first});
    end.port.value += shape(0, end.agent, end.lane).out_ports;
    return end;
  }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const Lane first = shape(0, agent, lane);
    const std::size_t part = step < first.steps ? 0 : 1;
    Primitive primitive = parts_.part(part).at(agent, lane, loop, part == 0 ? step : step - first.steps);
    if (part == 1) {
      primitive.receives.first += primitive.receives.count > 0 ? first.in_ports : 0;
      primitive.sends.first += primitive.sends.count > 0 ? first.out_ports : 0;
    }
    if (primitive.wait) { primitive.wait->ended = ended(part, agent, *primitive.wait); }
    return parts_.placed(part, agent, primitive);
  }
  Elements message_limit() const override { return parts_.message_limit(); }
  Elements shift(Buffer buffer) const override {
    return shifts_.at(static_cast<std::size_t>(buffer)).value_or(Elements::zero());
  }
  std::uint32_t least_slots() const override { return parts_.least_slots(); }

 private:
  /// Nothing for a lane that the part has not.
  Lane shape(std::size_t part, AgentId agent, LaneId lane) const {
    return lane.value < parts_.lanes(part, agent) ? parts_.part(part).lane(agent, lane) : Lane{};
  }

  /// Primitives of the joined lane when so many of the part's have ended.
  std::uint64_t ended(std::size_t part, AgentId agent, const Wait& wait) const {
    const std::uint64_t first = shape(0, agent, wait.lane).steps;
    const std::uint64_t own = shape(part, agent, wait.lane).steps;
    if (wait.ended == 0) { return 0; }
    const std::uint64_t loop = (wait.ended - 1) / own;
    const std::uint64_t inside = wait.ended - loop * own;
    return loop * (first + shape(1, agent, wait.lane).steps) + (part == 0 ? 0 : first) + inside;
  }

  void check(AgentId agent) {
    for (std::uint32_t number = 0; number < lanes(agent); ++number) {
      const Lane first = shape(0, agent, LaneId{number});
      const Lane second = shape(1, agent, LaneId{number});
      require(first.loops == second.loops || first.steps == 0 || second.steps == 0,
              "agent {} lane {}: {} and {} loops cannot be joined loop by loop", agent.value, number, first.loops,
              second.loops);
      if (first.loops > 2) { note_shifts(0, agent); }
      if (second.loops > 2) { note_shifts(1, agent); }
    }
  }

  void note_shifts(std::size_t part, AgentId agent) {
    const Memory memory = parts_.part(part).memory(agent);
    const std::array sizes{memory.input, memory.output, memory.scratch};
    for (const Buffer buffer : {Buffer::input, Buffer::output, Buffer::scratch}) {
      if (sizes.at(static_cast<std::size_t>(buffer)) == Elements::zero()) { continue; }
      const Elements shift = parts_.part(part).shift(buffer);
      std::optional<Elements>& noted = shifts_.at(static_cast<std::size_t>(parts_.home(part, agent, buffer)));
      require(!noted || *noted == shift, "agent {}: shifts {} and {} cannot be joined loop by loop", agent.value,
              noted.value_or(shift).count(), shift.count());
      noted = shift;
    }
  }

  TwoParts parts_;
  std::array<std::optional<Elements>, 3> shifts_;
};

}  // namespace

std::unique_ptr<const Schedule> sequence(std::unique_ptr<const Schedule> first, std::unique_ptr<const Schedule> second,
                                         Join join) {
  switch (join) {
    case Join::after_all: return std::make_unique<AfterAll>(std::move(first), std::move(second));
    case Join::loop_by_loop: break;
  }
  return std::make_unique<LoopByLoop>(std::move(first), std::move(second));
}

}  // namespace athanor
