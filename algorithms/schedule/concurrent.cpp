#include "algorithms/schedule/concurrent.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "sim/check.hpp"

namespace athanor {

namespace {

std::uint32_t programs_of(const Schedule& schedule) {
  std::uint32_t programs = 0;
  for (AgentId agent{0}; agent.value < schedule.agent_count().agents; ++agent.value) {
    for (LaneId lane{0}; lane.value < schedule.lanes(agent); ++lane.value) {
      programs = std::max(programs, schedule.lane(agent, lane).program.value + 1);
    }
  }
  return programs;
}

class Concurrent final : public Schedule {
 public:
  Concurrent(std::vector<ConcurrentPart> parts, std::uint32_t ranks)
      : parts_(std::move(parts)), agents_(agent_mapping(parts_, ranks)) {
    require(!parts_.empty(), "no schedules side by side");
    std::map<const Schedule*, std::uint32_t> known;
    std::uint32_t next = 0;
    for (const ConcurrentPart& part : parts_) {
      const auto [entry, is_new] = known.try_emplace(part.schedule.get(), next);
      if (is_new) { next += programs_of(*part.schedule); }
      first_program_.push_back(entry->second);
    }
  }

  AgentCount agent_count() const override { return agents_.agent_count(); }
  std::uint32_t lanes(AgentId agent) const override {
    const auto role = agents_.role(agent);
    return role ? schedule(*role).lanes(role->agent) : 0;
  }
  Lane lane(AgentId agent, LaneId lane) const override {
    const AgentMapping::Role role = taken(agent);
    Lane shape = schedule(role).lane(role.agent, lane);
    shape.program.value += first_program_[role.part];
    return shape;
  }
  std::uint32_t channel(AgentId agent, LaneId lane) const override {
    const AgentMapping::Role role = taken(agent);
    return schedule(role).channel(role.agent, lane);
  }
  StepRange alike(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const AgentMapping::Role role = taken(agent);
    return schedule(role).alike(role.agent, lane, loop, step);
  }
  Memory memory(AgentId agent) const override {
    const auto role = agents_.role(agent);
    return role ? schedule(*role).memory(role->agent) : Memory{};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    const AgentMapping::Role role = taken(agent);
    return outside(role, schedule(role).target(role.agent, lane, out));
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    const AgentMapping::Role role = taken(agent);
    return outside(role, schedule(role).source(role.agent, lane, in));
  }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const AgentMapping::Role role = taken(agent);
    return schedule(role).at(role.agent, lane, loop, step);
  }
  Elements message_limit() const override {
    Elements most;
    for (const ConcurrentPart& part : parts_) { most = std::max(most, part.schedule->message_limit()); }
    return most;
  }
  Elements shift(Buffer buffer) const override {
    Elements common;
    for (const ConcurrentPart& part : parts_) {
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
    for (const ConcurrentPart& part : parts_) { most = std::max(most, part.schedule->least_slots()); }
    return most;
  }

 private:
  const Schedule& schedule(const AgentMapping::Role& role) const { return *parts_[role.part].schedule; }
  AgentMapping::Role taken(AgentId agent) const {
    const auto role = agents_.role(agent);
    require(role.has_value(), "rank {} takes no part", agent.value);
    return *role;
  }
  Endpoint outside(const AgentMapping::Role& role, Endpoint end) const {
    end.agent = agents_.agent(role.part, end.agent);
    return end;
  }

  std::vector<ConcurrentPart> parts_;
  AgentMapping agents_;
  std::vector<std::uint32_t> first_program_;  ///< of each part
};

}  // namespace

AgentMapping::AgentMapping(std::vector<AgentCount> agent_counts, std::vector<std::vector<std::uint32_t>> ranks,
                           std::uint32_t total)
    : agent_counts_(std::move(agent_counts)), ranks_(std::move(ranks)), roles_(total), first_engine_{total} {
  require(agent_counts_.size() == ranks_.size(), "{} lists of ranks for {} schedules", ranks_.size(),
          agent_counts_.size());
  for (std::uint32_t part = 0; part < parts(); ++part) {
    require(ranks_[part].size() == agent_counts_[part].ranks, "{} ranks for {} roles", ranks_[part].size(),
            agent_counts_[part].ranks);
    for (std::uint32_t role = 0; role < ranks_[part].size(); ++role) {
      const std::uint32_t rank = ranks_[part][role];
      require(rank < total && !roles_[rank], "rank {} of {} cannot play role {} of schedule {}", rank, total, role,
              part);
      roles_[rank] = Role{part, AgentId{role}};
    }
    first_engine_.push_back(first_engine_.back() + agent_counts_[part].agents - agent_counts_[part].ranks);
  }
}

std::optional<AgentMapping::Role> AgentMapping::role(AgentId agent) const {
  if (agent.value < roles_.size()) { return roles_[agent.value]; }
  const auto after = std::upper_bound(first_engine_.begin(), first_engine_.end(), agent.value);
  require(after != first_engine_.end(), "agent {} of {}", agent.value, first_engine_.back());
  const auto part = static_cast<std::uint32_t>(after - first_engine_.begin() - 1);
  return Role{part, AgentId{agent_counts_[part].ranks + agent.value - first_engine_[part]}};
}

AgentId AgentMapping::agent(std::uint32_t part, AgentId role) const {
  if (role.value < agent_counts_[part].ranks) { return AgentId{ranks_[part][role.value]}; }
  return AgentId{first_engine_[part] + role.value - agent_counts_[part].ranks};
}

AgentMapping agent_mapping(const std::vector<ConcurrentPart>& parts, std::uint32_t ranks) {
  std::vector<AgentCount> agent_counts;
  std::vector<std::vector<std::uint32_t>> ranks_of_parts;
  for (const ConcurrentPart& part : parts) {
    agent_counts.push_back(part.schedule->agent_count());
    ranks_of_parts.push_back(part.ranks);
  }
  return {std::move(agent_counts), std::move(ranks_of_parts), ranks};
}

std::unique_ptr<const Schedule> concurrent(std::vector<ConcurrentPart> parts, std::uint32_t ranks) {
  return std::make_unique<Concurrent>(std::move(parts), ranks);
}

}  // namespace athanor
