#include "algorithms/combine/side_by_side.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "sim/check.hpp"

namespace athanor {

namespace {

std::uint32_t programs_of(const Schedule& schedule) {
  std::uint32_t programs = 0;
  for (AgentId agent{0}; agent.value < schedule.roster().agents; ++agent.value) {
    for (LaneId lane{0}; lane.value < schedule.lanes(agent); ++lane.value) {
      programs = std::max(programs, schedule.lane(agent, lane).program.value + 1);
    }
  }
  return programs;
}

class SideBySide final : public Schedule {
 public:
  SideBySide(std::vector<SidePart> parts, std::uint32_t ranks)
      : parts_(std::move(parts)), seating_(seating(parts_, ranks)) {
    require(!parts_.empty(), "no schedules side by side");
    std::map<const Schedule*, std::uint32_t> known;
    std::uint32_t next = 0;
    for (const SidePart& part : parts_) {
      const auto [entry, is_new] = known.try_emplace(part.schedule.get(), next);
      if (is_new) { next += programs_of(*part.schedule); }
      first_program_.push_back(entry->second);
    }
  }

  Roster roster() const override { return seating_.roster(); }
  std::uint32_t lanes(AgentId agent) const override {
    const auto seat = seating_.seat(agent);
    return seat ? schedule(*seat).lanes(seat->role) : 0;
  }
  Lane lane(AgentId agent, LaneId lane) const override {
    const Seating::Seat seat = taken(agent);
    Lane shape = schedule(seat).lane(seat.role, lane);
    shape.program.value += first_program_[seat.part];
    return shape;
  }
  std::uint32_t channel(AgentId agent, LaneId lane) const override {
    const Seating::Seat seat = taken(agent);
    return schedule(seat).channel(seat.role, lane);
  }
  Memory memory(AgentId agent) const override {
    const auto seat = seating_.seat(agent);
    return seat ? schedule(*seat).memory(seat->role) : Memory{};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    const Seating::Seat seat = taken(agent);
    return outside(seat, schedule(seat).target(seat.role, lane, out));
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    const Seating::Seat seat = taken(agent);
    return outside(seat, schedule(seat).source(seat.role, lane, in));
  }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const Seating::Seat seat = taken(agent);
    return schedule(seat).at(seat.role, lane, loop, step);
  }
  Elements message_limit() const override {
    Elements most;
    for (const SidePart& part : parts_) { most = std::max(most, part.schedule->message_limit()); }
    return most;
  }
  Elements shift(Buffer buffer) const override {
    Elements common;
    for (const SidePart& part : parts_) {
      const Elements own = part.schedule->shift(buffer);
      if (own == Elements::zero()) { continue; }
      require(common == Elements::zero() || common == own, "schedules side by side move by {} and {} elements",
              common.count(), own.count());
      common = own;
    }
    return common;
  }
  std::uint32_t least_slots() const override {
    std::uint32_t most = 1;
    for (const SidePart& part : parts_) { most = std::max(most, part.schedule->least_slots()); }
    return most;
  }

 private:
  const Schedule& schedule(const Seating::Seat& seat) const { return *parts_[seat.part].schedule; }
  Seating::Seat taken(AgentId agent) const {
    const auto seat = seating_.seat(agent);
    require(seat.has_value(), "rank {} takes no part", agent.value);
    return *seat;
  }
  Endpoint outside(const Seating::Seat& seat, Endpoint end) const {
    end.agent = seating_.agent(seat.part, end.agent);
    return end;
  }

  std::vector<SidePart> parts_;
  Seating seating_;
  std::vector<std::uint32_t> first_program_;  ///< of each part
};

}  // namespace

Seating seating(const std::vector<SidePart>& parts, std::uint32_t ranks) {
  std::vector<Roster> rosters;
  std::vector<std::vector<std::uint32_t>> ranks_of_parts;
  for (const SidePart& part : parts) {
    rosters.push_back(part.schedule->roster());
    ranks_of_parts.push_back(part.ranks);
  }
  return {std::move(rosters), std::move(ranks_of_parts), ranks};
}

std::unique_ptr<const Schedule> side_by_side(std::vector<SidePart> parts, std::uint32_t ranks) {
  return std::make_unique<SideBySide>(std::move(parts), ranks);
}

}  // namespace athanor
