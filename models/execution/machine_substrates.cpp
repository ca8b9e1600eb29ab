#include "models/execution/machine_substrates.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "models/execution/executor.hpp"
#include "sim/error.hpp"

namespace athanor {

void MemorySubstrate::send(LaneIndex lane) {
  executor_->send(lane);
  for (const ConnectionId connection : executor_->sends_of(lane)) {
    const Time notice = this->notice(lane, mapped_.connections[connection].target_lane);
    if (notice == Time::zero()) {
      executor_->usable(connection);
    } else {
      at(simulator_.now() + notice, kMessage, connection.value);
    }
  }
  executor_->part_ended(lane);
}

ThreadSubstrate::ThreadSubstrate(Simulator& simulator, const MappedSchedule& mapped, const ThreadCosts& costs,
                                 PrimitiveWork& work, std::uint32_t processors)
    : MemorySubstrate(simulator, mapped, {.wake = true}),
      costs_(costs),
      work_(work),
      lanes_(work.lanes()),
      processors_(processors) {}

void ThreadSubstrate::launched() {
  for (const LaneIndex lane : lanes_.ids()) {
    lanes_[lane].activity = Activity::queued;
    processors_[processor(lane)].queue.push_back(lane);
  }
  const Time start = costs_.start + (processors_.size() > 1 ? costs_.meeting : Time::zero());
  for (std::uint32_t processor = 0; processor < processors_.size(); ++processor) {
    processors_[processor].busy = true;
    at(simulator_.now() + start, Kind::awake, processor);
  }
}

void ThreadSubstrate::on_event(std::uint64_t event) {
  const auto index = static_cast<std::uint32_t>(event);
  switch (static_cast<Kind>(event >> 32U)) {
    case Kind::notice: enqueue(LaneIndex{index}); break;
    case Kind::awake: take_next(index); break;
    case Kind::turn: take_up(LaneIndex{index}); break;
    case Kind::send: send(LaneIndex{index}); break;
    case Kind::message: executor_->usable(ConnectionId{index}); break;
  }
  executor_->drain();
}

Time ThreadSubstrate::notice(LaneIndex lane, LaneIndex other) const {
  return processor(lane) == processor(other) ? Time::zero() : costs_.poll_delay;
}

void ThreadSubstrate::wake(LaneIndex lane, LaneIndex by) {
  const Time notice = this->notice(by, lane);
  if (notice == Time::zero()) { return enqueue(lane); }
  at(simulator_.now() + notice, Kind::notice, lane.value);
}

void ThreadSubstrate::enqueue(LaneIndex lane) {
  if (lanes_[lane].activity != Activity::blocked || executor_->lane(lane).phase == Executor::Phase::ended) { return; }
  lanes_[lane].activity = Activity::queued;
  const std::uint32_t index = processor(lane);
  Processor& self = processors_[index];
  self.queue.push_back(lane);
  if (self.busy) { return; }
  self.busy = true;
  const bool asleep = simulator_.now() - self.idle_since > costs_.spin_time;
  at(simulator_.now() + (asleep ? costs_.wake : Time::zero()), Kind::awake, index);
}

void ThreadSubstrate::take_next(std::uint32_t index) {
  Processor& self = processors_[index];
  if (self.queue.empty()) {
    self.busy = false;
    self.idle_since = simulator_.now();
    return;
  }
  const LaneIndex lane = self.queue.front();
  self.queue.pop_front();
  lanes_[lane].activity = Activity::running;
  at(simulator_.now() + costs_.dispatch + (lanes_[lane].known ? Time::zero() : costs_.lane), Kind::turn, lane.value);
  lanes_[lane].known = true;
}

void ThreadSubstrate::take_up(LaneIndex lane) {
  if (executor_->startable(lane)) {
    executor_->queue(lane);
    return executor_->drain();
  }
  lanes_[lane].activity = Activity::blocked;
  take_next(processor(lane));
}

void ThreadSubstrate::begin(LaneIndex lane) {
  const Time work = work_.of(lane.value, executor_->lane(lane).primitives_ended);
  if (work == Time::zero()) { return send(lane); }
  at(simulator_.now() + work, Kind::send, lane.value);
}

namespace {

constexpr LinkIndex kNoLink{UINT32_MAX};
constexpr ConnectionId kNoStream{UINT32_MAX};

/// Adds a link of this rate and its use to the path of the newest connection; nothing where it does not limit.
void cross(FlowGraph& plan, LinkIndex link) {
  if (link == kNoLink) { return; }
  plan.uses.push_back({link, 1});
  ++plan.connections.back().uses;
}

LinkIndex add_link(FlowGraph& plan, Bandwidth rate) {
  return rate == Bandwidth::max() ? kNoLink : plan.links.push_back({rate});
}

/// Of what is gone over again and again, the share that a cache still holds. Where a line is put anywhere at random, as
/// GPUs' hashed sets come near to, one survives the m (1 - h) misses of a round with probability e^(-m (1 - h)), m the
/// touched bytes of each byte of cache: h is that.
double cached_share(Bytes touched, Bytes cache) {
  if (touched <= cache) { return 1; }
  if (cache == Bytes::zero()) { return 0; }
  const double rounds = static_cast<double>(touched.count()) / static_cast<double>(cache.count());
  double share = 0;
  // From below it rises to the lesser solution, the other one being 1.
  for (double next = std::exp(-rounds); next - share > 1e-9; next = std::exp(-rounds * (1 - share))) { share = next; }
  return share;
}

}  // namespace

GpuSubstrate::GpuSubstrate(Simulator& simulator, const MappedSchedule& mapped, const Schedule& schedule,
                           const GpuCosts& costs, std::uint32_t gpus, Bytes element_size, std::uint32_t slots)
    : MemorySubstrate(simulator, mapped, {}),
      schedule_(schedule),
      costs_(costs),
      element_size_(element_size),
      unended_(mapped.lanes.size()),
      unmoved_(mapped.lanes.size()) {
  const std::uint64_t agents = schedule.agent_count().agents;
  for (const MappedSchedule::Lane& lane : mapped.lanes) {
    gpu_of_.push_back(static_cast<std::uint32_t>(lane.agent.value * std::uint64_t{gpus} / agents));
  }
  require_residency(gpus);
  find_cached(gpus, slots);
  lay_out_streams(gpus);
  memory_ = std::make_unique<FlowNetwork>(simulator, streams_, *this);
}

void GpuSubstrate::require_residency(std::uint32_t gpus) const {
  std::vector<std::uint32_t> lanes(gpus);
  for (const std::uint32_t gpu : gpu_of_) { ++lanes[gpu]; }
  const std::uint32_t most = *std::max_element(lanes.begin(), lanes.end());
  if (most <= costs_.blocks) { return; }
  throw SimulationError("gpu-residency",
                        fmt::format("{} lanes on one GPU, where {} thread blocks are resident at once; "
                                    "take fewer ranks or channels, or more GPUs",
                                    most, costs_.blocks));
}

IdVector<ConnectionId, std::uint64_t> GpuSubstrate::messages_sent() const {
  IdVector<ConnectionId, std::uint64_t> messages(mapped_.connections.size());
  for (const MappedSchedule::Lane& lane : mapped_.lanes) {
    const Lane shape = schedule_.lane(lane.agent, lane.lane);
    for (std::uint32_t step = 0; shape.loops > 0 && step < shape.steps; ++step) {
      const Ports sends = schedule_.at(lane.agent, lane.lane, 0, step).sends;
      for (std::uint32_t port = sends.first; port < sends.first + sends.count; ++port) {
        messages[ConnectionId{lane.first_out.value + port}] += shape.loops;
      }
    }
  }
  return messages;
}

/// What the executor touches on each GPU: the slots of what they receive that are ever filled, and buffers of its
/// agents.
void GpuSubstrate::find_cached(std::uint32_t gpus, std::uint32_t slots) {
  std::vector<Elements> in_slots(gpus);
  const IdVector<ConnectionId, std::uint64_t> messages = messages_sent();
  for (const ConnectionId connection : messages.ids()) {
    const auto touched = static_cast<std::int64_t>(std::min<std::uint64_t>(messages[connection], slots));
    in_slots[gpu(mapped_.connections[connection].target_lane)] += schedule_.message_limit() * touched;
  }
  std::vector<Elements> in_buffers(gpus);
  const std::uint64_t agents = schedule_.agent_count().agents;
  for (AgentId agent{0}; agent.value < agents; ++agent.value) {
    const Memory memory = schedule_.memory(agent);
    const Elements own = memory.in_place ? Elements::zero() : memory.input;
    in_buffers[agent.value * std::uint64_t{gpus} / agents] += own + memory.output + memory.scratch;
  }
  const auto share = [&](Elements elements) {
    return cached_share(element_size_ * elements.count(), costs_.cache_size);
  };
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
    cached_slots_.push_back(share(in_slots[gpu]));
    cached_buffers_.push_back(share(in_slots[gpu] + in_buffers[gpu]));
  }
}

void GpuSubstrate::lay_out_streams(std::uint32_t gpus) {
  std::vector<LinkIndex> caches;
  std::vector<LinkIndex> memories;
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
    caches.push_back(add_link(streams_, costs_.cache_rate));
    memories.push_back(add_link(streams_, costs_.memory_rate));
  }
  std::vector<LinkIndex> peers;
  for (std::uint32_t pair = 0; pair < gpus * gpus; ++pair) { peers.push_back(add_link(streams_, costs_.peer_rate)); }
  const auto add = [&](LaneIndex lane, Bandwidth cap) {
    streams_.connections.push_back(
        {Time::zero(), cap, Bytes::zero(), static_cast<std::uint32_t>(streams_.uses.size()), 0});
    lane_of_.push_back(lane);
  };
  for (const LaneIndex lane : gpu_of_.ids()) {
    for (std::uint32_t part = 0; part < kParts; ++part) {
      add(lane, part % 2 == 0 ? costs_.block_read_rate : costs_.block_write_rate);
      cross(streams_, caches[gpu(lane)]);
      cross(streams_, part < 2 ? kNoLink : memories[gpu(lane)]);
    }
  }
  for (const MappedSchedule::Connection& connection : mapped_.connections) {
    const std::uint32_t from = gpu(connection.source_lane);
    const std::uint32_t to = gpu(connection.target_lane);
    peer_stream_.push_back(kNoStream);
    if (from == to) { continue; }
    peer_stream_.back() = streams_.connections.next();
    add(connection.source_lane, costs_.peer_block_rate);
    cross(streams_, peers[from * gpus + to]);
    cross(streams_, caches[to]);
    cross(streams_, cached_slots_[to] < 1 ? memories[to] : kNoLink);
  }
}

void GpuSubstrate::ready(LaneIndex lane) { executor_->queue(lane); }

void GpuSubstrate::begin(LaneIndex lane) {
  const Primitive primitive = present(lane);
  const bool communicates = primitive.sends.count + primitive.receives.count > 0;
  const Time cost = costs_.primitive + (communicates ? costs_.message : Time::zero());
  at(simulator_.now() + cost, Kind::move, lane.value);
}

Primitive GpuSubstrate::present(LaneIndex lane) const {
  const MappedSchedule::Lane& mapped = mapped_.lanes[lane];
  const Executor::LaneState& state = executor_->lane(lane);
  return schedule_.at(mapped.agent, mapped.lane, state.loop, state.step);
}

void GpuSubstrate::on_event(std::uint64_t event) {
  const auto index = static_cast<std::uint32_t>(event);
  switch (static_cast<Kind>(event >> 32U)) {
    case Kind::move: move(LaneIndex{index}); break;
    case Kind::message: executor_->usable(ConnectionId{index}); break;
  }
  executor_->drain();
}

/// The block of this lane reads and writes what its primitive does.
void GpuSubstrate::move(LaneIndex lane) {
  const Primitive primitive = present(lane);
  const Bytes bytes = element_size_ * primitive.count.count();
  const ConnectionId first{mapped_.lanes[lane].first_out.value + primitive.sends.first};
  std::uint32_t sent_here = 0;
  ++unended_[lane];  // held until all have begun
  for (const ConnectionId connection : IdRange{first, ConnectionId{first.value + primitive.sends.count}}) {
    if (peer_stream_[connection] == kNoStream) {
      ++sent_here;
    } else {
      stream(lane, peer_stream_[connection], bytes);
    }
  }
  const std::uint32_t operands = primitive.inputs() - primitive.receives.count;
  const auto divide = [&](std::uint32_t slots, std::uint32_t buffers, std::size_t part) {
    const double cached = slots * cached_slots_[gpu(lane)] + buffers * cached_buffers_[gpu(lane)];
    const Bytes in_cache{std::llround(static_cast<double>(bytes.count()) * cached)};
    unmoved_[lane][part] = in_cache;
    unmoved_[lane][part + 2] = bytes * (slots + buffers) - in_cache;
  };
  divide(primitive.receives.count, operands, 0);
  divide(sent_here, primitive.store ? 1 : 0, 1);
  move_next(lane);
  stream_ended(lane);
}

/// One part behind the other: a block has only so many bytes under way, wherever they come from and go to.
void GpuSubstrate::move_next(LaneIndex lane) {
  for (std::uint32_t part = 0; part < kParts; ++part) {
    const Bytes bytes = std::exchange(unmoved_[lane][part], Bytes::zero());
    if (bytes == Bytes::zero()) { continue; }
    stream(lane, ConnectionId{lane.value * kParts + part}, bytes);
    return;
  }
}

void GpuSubstrate::stream(LaneIndex lane, ConnectionId number, Bytes bytes) {
  if (bytes == Bytes::zero()) { return; }
  ++unended_[lane];
  memory_->move(number, bytes);
}

void GpuSubstrate::injected(ConnectionId stream) {
  const LaneIndex lane = lane_of_[stream];
  if (stream.value < gpu_of_.size() * kParts) { move_next(lane); }
  stream_ended(lane);
}

void GpuSubstrate::stream_ended(LaneIndex lane) {
  if (--unended_[lane] > 0) { return; }
  send(lane);
  executor_->drain();
}

}  // namespace athanor
