#include "models/workload/collective_matcher.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"

namespace athanor {

CollectiveMatcher::CollectiveMatcher(const Workload& workload)
    : workload_(workload), rooms_(workload.communicators.size()), ends_(workload.channels.size()) {
  for (std::size_t i = 0; i < rooms_.size(); ++i) {
    const std::vector<std::uint32_t>& workers = workload.communicators[i].workers;
    require(std::is_sorted(workers.begin(), workers.end()), "workers of {} are not in order",
            workload.communicators[i].name);
  }
  for (const Workload::Worker& worker : workload.workers) { number_calls(worker); }
}

/// In the order of the program: streams of one worker may come to calls of one communicator in any order.
void CollectiveMatcher::number_calls(const Workload::Worker& worker) {
  std::vector<std::uint32_t>& turns = turns_.emplace_back(worker.operations.size());
  std::map<std::uint32_t, std::uint32_t> calls;  // by communicator, so far
  for (std::size_t i = 0; i < worker.operations.size(); ++i) {
    if (worker.operations[i].kind != Workload::Kind::call) { continue; }
    turns[i] = calls[workload_.calls[worker.operations[i].subject].communicator]++;
  }
}

void CollectiveMatcher::check_same(OperationId first, OperationId other) const {
  const Workload::Call& a = workload_.calls[operation(first).subject];
  const Workload::Call& b = workload_.calls[operation(other).subject];
  if (a == b) { return; }
  const auto told = [&](OperationId who, const Workload::Call& call) {
    return fmt::format("{} calls {} of {} ({}, operation {})", workload_.workers[who.worker].name, name(call.kind),
                       to_string(call.size), workload_.labels[operation(who).label], who.operation);
  };
  throw SimulationError("mismatch",
                        fmt::format("{}: {}, but {} at the same turn", workload_.communicators[a.communicator].name,
                                    told(first, a), told(other, b)));
}

std::optional<CollectiveMatcher::Members> CollectiveMatcher::call(OperationId who) {
  const std::uint32_t number = workload_.calls[operation(who).subject].communicator;
  const Workload::Communicator& communicator = workload_.communicators[number];
  if (communicator.workers.size() == 1) { return Members{who}; }
  require(std::binary_search(communicator.workers.begin(), communicator.workers.end(), who.worker),
          "{} calls over {} and is not in it", workload_.workers[who.worker].name, communicator.name);
  Room& room = rooms_[number];
  const std::uint64_t turn = turns_[who.worker][who.operation] - room.first;
  if (turn >= room.open.size()) { room.open.resize(turn + 1); }
  Turn& open = room.open[turn];
  if (!open.members.empty()) { check_same(open.members.front(), who); }
  open.members.push_back(who);
  if (open.members.size() < communicator.workers.size()) { return std::nullopt; }
  Members all = std::exchange(open.members, {});
  open.done = true;
  while (!room.open.empty() && room.open.front().done) {
    room.open.pop_front();
    ++room.first;
  }
  return all;
}

std::optional<CollectiveMatcher::Members> CollectiveMatcher::message(OperationId who) {
  const Workload::Operation& own = operation(who);
  Ends& ends = ends_[own.subject];
  const bool sends = own.kind == Workload::Kind::send;
  std::deque<OperationId>& others = sends ? ends.receives : ends.sends;
  if (others.empty()) {
    (sends ? ends.sends : ends.receives).push_back(who);
    return std::nullopt;
  }
  const OperationId other = others.front();
  others.pop_front();
  if (operation(other).size != own.size) {
    const Workload::Channel& channel = workload_.channels[own.subject];
    const Bytes sent = sends ? own.size : operation(other).size;
    const Bytes wanted = sends ? operation(other).size : own.size;
    throw SimulationError("mismatch", fmt::format("{}: {} sends {}, and {} receives {}", channel.name,
                                                  workload_.workers[channel.from].name, to_string(sent),
                                                  workload_.workers[channel.to].name, to_string(wanted)));
  }
  return Members{other, who};
}

std::vector<std::uint32_t> CollectiveMatcher::missing(OperationId who) const {
  const Workload::Operation& own = operation(who);
  if (own.kind == Workload::Kind::send) { return {workload_.channels[own.subject].to}; }
  if (own.kind == Workload::Kind::receive) { return {workload_.channels[own.subject].from}; }
  std::vector<std::uint32_t> absent;
  if (own.kind != Workload::Kind::call) { return absent; }
  const std::uint32_t number = workload_.calls[own.subject].communicator;
  const Workload::Communicator& communicator = workload_.communicators[number];
  const Room& room = rooms_[number];
  for (const Turn& open : room.open) {
    const Members& members = open.members;
    const auto is = [](std::uint32_t worker) { return [worker](OperationId each) { return each.worker == worker; }; };
    const bool here = std::any_of(members.begin(), members.end(), [&](OperationId each) {
      return each.worker == who.worker && each.operation == who.operation;
    });
    if (!here) { continue; }
    for (const std::uint32_t worker : communicator.workers) {
      if (std::none_of(members.begin(), members.end(), is(worker))) { absent.push_back(worker); }
    }
  }
  return absent;
}

}  // namespace athanor
