#include "algorithms/execution/mpi/process_lanes.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "algorithms/proof/violation.hpp"

namespace athanor {

namespace {

/// After so much arithmetic MPI is due for a look: messages move on only when it is called.
constexpr std::size_t kBytesPerPoll = 64 * 1024;

}  // namespace

ProcessLanes::ProcessLanes(const Communicator& communicator, const Schedule& schedule, const Wiring& wiring,
                           const Reducer& reducer, std::vector<AgentMemory> memory, std::uint32_t slots)
    : schedule_(schedule),
      wiring_(wiring),
      agent_count_(schedule.agent_count()),
      reducer_(reducer),
      memory_(std::move(memory)),
      slots_(slots),
      processes_(communicator.size()),
      endpoints_(communicator, wiring, agent_count_, slots, reducer.kernels.size),
      in_room_(wiring.receivers.size(), slots, bytes(schedule.message_limit())),
      out_room_(wiring.receivers.size(), slots, bytes(schedule.message_limit())),
      local_(wiring.lanes.size()) {
  for (AgentId agent{communicator.rank()}; agent.value < agent_count_.agents; agent.value += processes_) {
    add_agent(agent);
  }
}

void ProcessLanes::add_agent(AgentId agent) {
  plans_.emplace_back(schedule_, wiring_, agent, reducer_.kernels.finish != nullptr);
  for (std::uint32_t lane = wiring_.first_lane[agent.value]; lane < wiring_.first_lane[agent.value + 1]; ++lane) {
    local_[lane] = static_cast<std::uint32_t>(states_.size());
    State& added = states_.emplace_back();
    added.lane = lane;
    added.total = wiring_.lanes[lane].primitives();
  }
}

std::span<const PlannedReceive> ProcessLanes::plan(std::uint32_t connection) const {
  const AgentId agent = wiring_.lanes[wiring_.receivers[connection]].agent;
  return plans_[agent.value / processes_].receives(connection);
}

void ProcessLanes::start() {
  endpoints_.reset();
  ready_.clear();
  put_off_.clear();
  hindered_.clear();
  unended_ = 0;
  for (State& each : states_) {
    each.index = 0;
    each.loaded = false;
    each.queued = false;
    each.waiting.clear();
    if (each.total == 0) { continue; }
    ++unended_;
    wake(each.lane);
    for (std::uint32_t port = 0; port < wired(each).shape.in_ports; ++port) { post(wired(each).first_in + port, true); }
  }
}

void ProcessLanes::wake(std::uint32_t lane) {
  State& woken = state(lane);
  if (woken.queued || woken.index == woken.total) { return; }
  woken.queued = true;
  ready_.push_back(lane);
}

bool ProcessLanes::progress() {
  const std::uint64_t under_way = endpoints_.sends_under_way();
  const std::span<const std::uint32_t> concerned = endpoints_.poll();
  bool something = !concerned.empty();
  for (const std::uint32_t lane : concerned) { wake(lane); }
  if (endpoints_.sends_under_way() < under_way) {
    for (const std::uint32_t lane : std::exchange(hindered_, {})) { wake(lane); }
    post_again(true);
  }
  std::size_t moved = 0;
  for (std::size_t left = ready_.size(); left > 0 && moved < kBytesPerPoll; --left) {
    State& next = state(ready_.front());
    ready_.pop_front();
    next.queued = false;
    if (!advance(next)) { continue; }
    moved += bytes(next.primitive.count);
    something = true;
  }
  return something;
}

/// One primitive.
bool ProcessLanes::advance(State& state) {
  if (state.index == state.total) { return false; }
  if (!state.loaded) {
    state.primitive = wired(state).at(schedule_, state.index);
    state.loaded = true;
  }
  if (!ready(state)) { return false; }
  execute(state);
  end(state);
  return true;
}

bool ProcessLanes::ready(State& state) {
  if (const auto& wait = state.primitive.wait) {
    State& awaited = this->state(wiring_.index(wired(state).agent, wait->lane));
    if (awaited.index < wait->ended) {
      awaited.waiting.push_back(state.lane);
      return false;
    }
  }
  for (std::uint32_t port = 0; port < state.primitive.receives.count; ++port) {
    if (endpoints_.arrived(in(state, port)) == nullptr) { return false; }
  }
  for (std::uint32_t port = 0; port < state.primitive.sends.count; ++port) {
    if (!endpoints_.may_send(out(state, port))) { return false; }
  }
  move_.sources.clear();
  move_.targets.clear();
  move_.outgoing = nullptr;
  if (state.primitive.count == Elements::zero()) { return true; }
  receive(state);
  send(state);
  const auto is_free = [&](const Target& target) { return free(target, state.primitive.count); };
  if (std::all_of(move_.targets.begin(), move_.targets.end(), is_free)) { return true; }
  hindered_.push_back(state.lane);
  return false;
}

void ProcessLanes::receive(const State& state) {
  const AgentMemory& memory = memory_[wired(state).agent.value];
  for (const auto& operand : state.primitive.operands) {
    if (operand) { move_.sources.push_back(memory.source(*operand, reducer_.kernels.size)); }
  }
  for (std::uint32_t port = 0; port < state.primitive.receives.count; ++port) {
    move_.sources.push_back({endpoints_.arrived(in(state, port))->data, 0, 0});
  }
}

/// The value goes into the store, unless it was received there, and leaves from wherever it lies in one piece.
void ProcessLanes::send(const State& state) {
  const Primitive& primitive = state.primitive;
  const bool changed = primitive.inputs() != 1 || (primitive.finish && reducer_.kernels.finish != nullptr);
  if (primitive.store) {
    const Target store = memory_[wired(state).agent.value].target(*primitive.store, reducer_.kernels.size);
    const bool there = !changed && primitive.receives.count == 1 && move_.sources[0].data == store.data;
    if (!there) { move_.targets.push_back(store); }
    if (store.run == 0) { move_.outgoing = store.data; }
  }
  if (primitive.sends.count == 0 || move_.outgoing != nullptr) { return; }
  if (!changed && move_.sources[0].run == 0) {
    move_.outgoing = move_.sources[0].data;
    return;
  }
  const std::uint32_t first = out(state, 0);
  std::byte* const slot = out_room_.slot(first, endpoints_.sent(first));
  move_.targets.push_back({slot, 0, 0});
  move_.outgoing = slot;
}

bool ProcessLanes::free(const Target& target, Elements count) const {
  const std::int64_t last =
      target.run == 0 ? count.count() - 1 : (count.count() - 1) / target.run * target.stride + target.run - 1;
  return !endpoints_.lent(target.data, bytes(Elements{last + 1}));
}

void ProcessLanes::execute(State& state) {
  const Primitive& primitive = state.primitive;
  const AgentId agent = wired(state).agent;
  if (primitive.count > Elements::zero()) {
    apply(reducer_, {agent, wired(state).lane, state.index}, primitive, move_.sources, move_.targets);
  }
  for (std::uint32_t port = 0; port < primitive.sends.count; ++port) {
    endpoints_.send(out(state, port), move_.outgoing, primitive.count);
  }
}

void ProcessLanes::end(State& state) {
  state.loaded = false;
  ++state.index;
  for (std::uint32_t port = 0; port < state.primitive.receives.count; ++port) {
    endpoints_.take(in(state, port));
    post(in(state, port), true);
  }
  post_again(true);
  for (const std::uint32_t lane : std::exchange(state.waiting, {})) { wake(lane); }
  if (state.index == state.total) {
    --unended_;
  } else {
    wake(state.lane);
  }
}

/// A receive that may go straight into its store, but for a primitive that has not ended or a send that reads there, is
/// put off: mostly both are over before the message comes. It then has no slot, so that this must not last: its sender
/// may be what others wait for.
void ProcessLanes::post(std::uint32_t connection, bool put_off) {
  if (std::find(put_off_.begin(), put_off_.end(), connection) != put_off_.end()) { return; }
  const std::span<const PlannedReceive> planned = plan(connection);
  const WiredLane& lane = wiring_.lanes[wiring_.receivers[connection]];
  for (std::uint64_t k = endpoints_.posted(connection); k < planned.size() && k - endpoints_.taken(connection) < slots_;
       ++k) {
    const Primitive next = lane.at(schedule_, planned[k].index);
    if (post_straight(connection, planned[k], next)) { continue; }
    std::byte* const slot = in_room_.slot(connection, k);
    const bool wait = (put_off && planned[k].straight_from) || endpoints_.lent(slot, bytes(next.count));
    if (wait) { return put_off_.push_back(connection); }
    endpoints_.post(connection, {slot, next.count});
  }
}

bool ProcessLanes::post_straight(std::uint32_t connection, const PlannedReceive& planned, const Primitive& next) {
  const State& receiver = state(wiring_.receivers[connection]);
  if (!planned.straight_from || receiver.index < *planned.straight_from) { return false; }
  const Target store = memory_[wired(receiver).agent.value].target(*next.store, reducer_.kernels.size);
  if (!free(store, next.count)) { return false; }
  endpoints_.post(connection, {store.data, next.count});
  return true;
}

void ProcessLanes::post_again(bool put_off) {
  if (put_off_.empty()) { return; }
  for (const std::uint32_t connection : std::exchange(put_off_, {})) { post(connection, put_off); }
}

void ProcessLanes::post_all() { post_again(false); }

std::string ProcessLanes::text(std::uint32_t lane) const {
  return describe(agent_count_, {wiring_.lanes[lane].agent, wiring_.lanes[lane].lane, {}, {}});
}

std::string ProcessLanes::obstacle(const State& state) const {
  if (!state.loaded) { return "could run"; }
  if (const auto& wait = state.primitive.wait) {
    const std::uint32_t awaited = wiring_.index(wired(state).agent, wait->lane);
    if (this->state(awaited).index < wait->ended) {
      return fmt::format("waits until {} has ended {} primitives", text(awaited), wait->ended);
    }
  }
  for (std::uint32_t port = 0; port < state.primitive.receives.count; ++port) {
    const std::uint32_t connection = in(state, port);
    if (endpoints_.arrived(connection) != nullptr) { continue; }
    return fmt::format("waits for message {} of {}", endpoints_.taken(connection) + 1,
                       text(wiring_.senders[connection]));
  }
  for (std::uint32_t port = 0; port < state.primitive.sends.count; ++port) {
    const std::uint32_t connection = out(state, port);
    if (endpoints_.may_send(connection)) { continue; }
    return fmt::format("waits for a slot to send message {} to {}", endpoints_.sent(connection) + 1,
                       text(wiring_.receivers[connection]));
  }
  if (endpoints_.sends_under_way() == 0) { return "could run"; }
  return fmt::format("waits until sends are done that read what it overwrites, one of them to {}",
                     text(wiring_.receivers[endpoints_.unsent()]));
}

std::string ProcessLanes::obstacles() const {
  constexpr std::uint32_t kShown = 8;
  std::uint32_t found = 0;
  std::string list;
  for (const State& each : states_) {
    if (each.index == each.total || ++found > kShown) { continue; }
    list += fmt::format("{}{} {}", found > 1 ? "; " : "", describe(agent_count_, wired(each).place(each.index)),
                        obstacle(each));
  }
  if (found > kShown) { return fmt::format("{}; and {} more lanes", list, found - kShown); }
  if (found > 0 || endpoints_.sends_under_way() == 0) { return list; }
  return fmt::format("all lanes have ended, but {} sends are not done, the first to {}", endpoints_.sends_under_way(),
                     text(wiring_.receivers[endpoints_.unsent()]));
}

}  // namespace athanor
