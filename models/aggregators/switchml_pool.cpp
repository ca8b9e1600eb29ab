#include "models/aggregators/switchml_pool.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

SwitchMlPool::SwitchMlPool(Simulator& simulator, AggregationTransport& carrier, const std::vector<AggregationJob>& jobs,
                           const AggregatorSettings& settings, const Cluster& cluster)
    : AggregationProtocol(simulator, carrier, jobs, settings, cluster) {
  slots_ = settings.slots / static_cast<std::uint32_t>(jobs.size());
  if (settings.window > 0) { slots_ = std::min(slots_, settings.window); }
  if (slots_ == 0) {
    throw SimulationError("slots", fmt::format("{} slots are not enough for {} jobs that have slots of their own",
                                               settings.slots, jobs.size()));
  }
  for (std::uint32_t job = 0; job < jobs.size(); ++job) { add_job(job); }
}

void SwitchMlPool::add_job(std::uint32_t job) {
  const PlacedTree placed = tree_of(jobs_[job].workers);
  const std::uint32_t slots = std::min(slots_, packets(job));
  first_worker_.push_back(static_cast<std::uint32_t>(workers_.size()));
  first_node_.push_back(static_cast<std::uint32_t>(nodes_.size()));
  for (std::uint32_t number = 0; number < jobs_[job].workers.size(); ++number) {
    workers_.push_back(
        {job, number, {}, 0, std::vector<std::uint32_t>(slots, kNone), std::vector<std::uint32_t>(slots)});
  }
  for (std::uint32_t node = 0; node < placed.tree->nodes(); ++node) {
    Node& self = nodes_.emplace_back();
    self.job = job;
    self.words = static_cast<std::uint32_t>(placed.tree->children(node).size() + 63) / 64;
    self.slots.resize(std::size_t{2} * slots_);
    self.seen.resize(std::size_t{2} * slots_ * self.words);
  }
  join_children(job, placed);
}

/// Two connections for each child, up and down.
void SwitchMlPool::join_children(std::uint32_t job, const PlacedTree& placed) {
  const std::uint32_t span = 2 * slots_;
  for (std::uint32_t node = 0; node < placed.tree->nodes(); ++node) {
    const std::uint32_t index = first_node_[job] + node;
    std::uint32_t place = 0;
    for (const AggregationTree::Child child : placed.tree->children(node)) {
      const VertexId vertex = child.is_rank ? jobs_[job].workers[child.number] : placed.switches[child.number];
      const End kind = child.is_rank ? End::worker : End::aggregator;
      const ConnectionId up = connect(job, vertex, kind, placed.switches[node], End::aggregator, span);
      const ConnectionId down = connect(job, placed.switches[node], End::aggregator, vertex, kind, span);
      const std::uint32_t below = (child.is_rank ? first_worker_[job] : first_node_[job]) + child.number;
      (child.is_rank ? workers_[below].up : nodes_[below].up) = up;
      nodes_[index].down.push_back(down);
      target(up, {false, index, place++});
      target(down, {child.is_rank, below, kNone});
    }
  }
}

void SwitchMlPool::target(ConnectionId connection, Target target) {
  require(connection == targets_.next(), "connection {} where {} are known", connection.value, targets_.size());
  targets_.push_back(target);
}

Time SwitchMlPool::round_trip(std::uint32_t job) const {
  const std::uint32_t end =
      first_node_.size() > job + 1 ? first_node_[job + 1] : static_cast<std::uint32_t>(nodes_.size());
  std::vector<Time> above(nodes_.size());  // of each node: to the top and back
  Time longest;
  for (std::uint32_t node = first_node_[job]; node < end; ++node) {
    for (const ConnectionId down : nodes_[node].down) {
      const Target& child = targets_[down];
      const ConnectionId up = child.is_worker ? workers_[child.index].up : nodes_[child.index].up;
      const Time whole = above[node] + carrier_.alone(up) + carrier_.alone(down);
      if (child.is_worker) {
        longest = std::max(longest, whole);
      } else {
        above[child.index] = whole;
      }
    }
  }
  return longest;
}

void SwitchMlPool::begin(std::uint32_t job) {
  const auto last = first_worker_[job] + static_cast<std::uint32_t>(jobs_[job].workers.size());
  for (std::uint32_t w = first_worker_[job]; w < last; ++w) {
    for (std::uint32_t slot = 0; slot < workers_[w].waits_for.size(); ++slot) { send(workers_[w], slot, false); }
  }
}

void SwitchMlPool::send(Worker& worker, std::uint32_t sequence, bool repeat) {
  const std::uint32_t slot = sequence % slots_;
  std::uint32_t& tries = worker.tries[slot];
  tries = repeat ? tries + 1 : 1;
  worker.waits_for[slot] = sequence;
  carrier_.send(worker.up, {.sequence = sequence, .repeat = repeat, .sum = own_part(worker.number)});
  start_timer(worker.job, worker.number, sequence, tries);
}

bool SwitchMlPool::waits(std::uint32_t job, std::uint32_t worker, std::uint32_t sequence, std::uint32_t tries) const {
  const Worker& self = workers_[first_worker_[job] + worker];
  const std::uint32_t slot = sequence % slots_;
  return self.waits_for[slot] == sequence && self.tries[slot] == tries;
}

void SwitchMlPool::time_out(std::uint32_t job, std::uint32_t worker, std::uint32_t sequence) {
  Worker& self = workers_[first_worker_[job] + worker];
  check_tries(job, worker, sequence, self.tries[sequence % slots_]);
  ++result(job).retransmissions;
  send(self, sequence, true);
}

void SwitchMlPool::arrive(ConnectionId connection, const AggregationPacket& packet) {
  const Target& target = targets_[connection];
  if (target.is_worker) { return use(workers_[target.index], packet); }
  Node& node = nodes_[target.index];
  if (target.child != kNone) { return contribute(node, target.child, packet); }
  Slot& slot = node.slots[copy(packet.sequence)];
  if (slot.sequence != packet.sequence || slot.answered) { return; }
  slot.sum = packet.sum;
  answer(node, slot);
}

/// A packet of a child: added once. Ways are first in, first out, so that a copy of a slot is never asked for a packet
/// older than the one it is for.
void SwitchMlPool::contribute(Node& node, std::uint32_t child, const AggregationPacket& packet) {
  const std::uint32_t sequence = packet.sequence;
  const std::uint32_t index = copy(sequence);
  Slot& slot = node.slots[index];
  std::uint64_t* const seen = &node.seen[std::size_t{index} * node.words];
  if (slot.sequence != sequence) {
    require(slot.sequence == kNone || (slot.answered && slot.sequence < sequence),
            "packet {} comes to a slot that is still for packet {}", sequence, slot.sequence);
    slot = {sequence, static_cast<std::uint32_t>(node.down.size()), false, 0};
    std::fill(seen, seen + node.words, 0);
  }
  std::uint64_t& word = seen[child / 64];
  const std::uint64_t bit = std::uint64_t{1} << child % 64;
  if ((word & bit) == 0) {
    word |= bit;
    slot.sum += packet.sum;
    if (--slot.missing == 0) { complete(node, slot); }
  } else if (slot.answered) {
    carrier_.send(node.down[child], {.sequence = sequence, .repeat = true, .sum = slot.sum});
  } else if (slot.missing == 0) {
    carrier_.send(node.up, {.sequence = sequence, .repeat = true, .sum = slot.sum});
  }
}

void SwitchMlPool::complete(Node& node, Slot& slot) {
  if (node.up == kNoConnection) { return answer(node, slot); }
  carrier_.send(node.up, {.sequence = slot.sequence, .sum = slot.sum});
}

void SwitchMlPool::answer(Node& node, Slot& slot) {
  slot.answered = true;
  for (const ConnectionId down : node.down) { carrier_.send(down, {.sequence = slot.sequence, .sum = slot.sum}); }
}

void SwitchMlPool::use(Worker& worker, const AggregationPacket& packet) {
  const std::uint32_t sequence = packet.sequence;
  std::uint32_t& waits_for = worker.waits_for[sequence % slots_];
  if (waits_for != sequence) {
    ++result(worker.job).repeated_results;
    return;
  }
  check_sum(worker.job, packet);
  waits_for = kNone;
  ++worker.results;
  ++result(worker.job).results;
  if (sequence + slots_ < packets(worker.job)) { send(worker, sequence + slots_, false); }
  if (worker.results == packets(worker.job)) { worker_ends(worker.job); }
}

}  // namespace athanor
