#include "models/execution/work_of_collective.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "models/execution/by_packets.hpp"
#include "models/execution/choice.hpp"
#include "models/execution/prepare.hpp"
#include "models/execution/schedule_sample.hpp"
#include "models/software/profile.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

// What repetition leaves of loops and steps, where what is simulated comes back to the same state.
constexpr double kLoopsUntilAlike = 6;
constexpr double kStepsUntilAlike = 0.25;  // of rings, between 0.02 and all
constexpr double kMostSteps = 4096;
constexpr double kLongLoop = 256;
constexpr double kFlowsMet = 100;   // by a flow that begins or ends, directly or by others, where routes are hashed
constexpr double kKindsOfNode = 8;  // of lanes, in each node of a tree, none of which is like another

// Bytes; what -v and the peak of memory of runs say, divided by how much there was.
constexpr double kConnectionBytes = 260;
constexpr double kBlockEndBytes = 10;
constexpr double kBlockLaneBytes = 25;
constexpr double kLaneBytes = 300;
constexpr double kRunningBytes = 500;  // a connection while it is simulated

/// Whether equal requests but for their flow take different paths, so that agents differ in whom they meet.
bool hashes(const Cluster& cluster) {
  if (cluster.endpoints.size() < 2) { return false; }
  std::vector<LinkId> first;
  std::vector<LinkId> other;
  const VertexId from = cluster.endpoints.front();
  const VertexId to = cluster.endpoints[cluster.endpoints.size() / 2];
  cluster.router->route({from, to, 0}, first);
  for (std::uint64_t flow = 1; flow < 8; ++flow) {
    other.clear();
    cluster.router->route({from, to, flow}, other);
    if (other != first) { return true; }
  }
  return cluster.router->paths() > 1;
}

/// In nodes; 1 where no group of several nodes recurs.
double period_of(const Cluster& cluster) {
  const std::size_t node = std::max(1U, cluster.endpoints_per_node);
  std::size_t smallest = cluster.endpoints.size();
  for (const CutSet& set : cluster.cut_sets) {
    const auto inside = [&](VertexId endpoint) {
      return std::any_of(set.inside.begin(), set.inside.end(), [&](const VertexRange& range) {
        return endpoint.value >= range.first && endpoint.value - range.first < range.count;
      });
    };
    const auto count = std::count_if(cluster.endpoints.begin(), cluster.endpoints.end(), inside);
    if (!set.half && static_cast<std::size_t>(count) > node) { smallest = std::min<std::size_t>(smallest, count); }
  }
  return smallest == cluster.endpoints.size() ? 1 : static_cast<double>(smallest / node);
}

/// A schedule on a cluster, ready to be counted.
struct Subject {
  ScheduleSample sample;
  bool hashed = false;  ///< flows that meet do so by chance
  bool blocks = false;  ///< its classes are found node by node
  double pairs = 1;     ///< queue pairs of a connection
  double links = 0;     ///< of the fabric
  double nodes = 1;
  double period = 1;  ///< nodes of the smallest group that there are several of

  /// Every agent meets all others in turn, as in a ring: where it is in its group of nodes then tells it from others.
  bool goes_round() const { return 2 * sample.steps >= sample.agents; }
  bool needs_events() const { return sample.filled || sample.waits; }
  bool meets_by_chance() const { return hashed && sample.filled; }
};

double left_by_repetition(const Subject& subject, const SimulationOptions& options) {
  const ScheduleSample& sample = subject.sample;
  if (!subject.needs_events() && sample.repeated == 0) { return 1; }
  if (!options.repeat_loops || sample.primitives == 0) { return 1; }
  const double loops = 1 / std::max(1e-9, 1 - sample.repeated / sample.primitives);
  const bool never = sample.uneven && sample.filled;  // nodes that differ and share links keep no common pace
  const double of_loops = never ? 1 : std::min(1.0, kLoopsUntilAlike / loops);
  const double of_steps = std::min(kStepsUntilAlike, kMostSteps / std::max(1.0, sample.steps));
  return loops < 2 && sample.steps >= kLongLoop ? of_steps : of_loops;
}

/// What a run moves: its bytes, or, to find out what limits it, messages without any, each of which is a packet.
enum class Payload : std::uint8_t { whole, none };

double ports_of(const Subject& subject) {
  return std::min(2 * subject.sample.links_crossed * subject.pairs, subject.links);
}

void add_packets(const Subject& subject, const SimulationOptions& options, Payload payload, WorkCount& work) {
  const ScheduleSample& sample = subject.sample;
  const double empty = sample.links_crossed * sample.messages / std::max(1.0, sample.connections);
  double links = payload == Payload::whole ? sample.packet_links : empty;
  if (to_double(options.skip_error) > 0) {
    links = sample.filled ? links * kLooking : std::min(links, sample.settling);
  }
  add_hops(links * (1 + 1.0 / options.packet.transport.acknowledge_every), ports_of(subject) * kPortBytes, work);
  work[Work::message] += sample.messages * subject.pairs;
  work[Work::connection] += sample.connections * subject.pairs;
}

/// What preparing leaves for the runs of a candidate.
double lanes_left(const Subject& subject, const SimulationOptions& options) {
  const ScheduleSample& sample = subject.sample;
  if (!finds_classes(options) || subject.meets_by_chance()) { return 1; }
  double kinds = sample.kinds * (subject.goes_round() ? subject.period : 1);
  if (sample.uneven) { kinds = std::max(kinds, kKindsOfNode * subject.nodes); }
  return std::min(1.0, kinds / std::max(1.0, sample.lanes));
}

void add_preparation(const Subject& subject, WorkCount& work) {
  work[subject.blocks ? Work::block_end : Work::connection] += subject.sample.connections * subject.pairs;
}

void add_run(const Subject& subject, const SimulationOptions& options, Payload payload, WorkCount& work) {
  work[Work::run] += 1;
  if (options.level == NetworkLevel::packet) { return add_packets(subject, options, payload, work); }
  const double left = lanes_left(subject, options) * left_by_repetition(subject, options);
  const bool by_events = subject.needs_events() || !options.repeat_loops;
  const double primitives = subject.sample.primitives * left;
  work[by_events ? Work::primitive : Work::settled] += primitives;
  if (subject.meets_by_chance() && options.level == NetworkLevel::flow) {
    work[Work::reshared] += primitives * kFlowsMet;
  }
}

/// Of what is laid out, and of what is left of it and simulated.
double bytes_of(const Subject& subject, const SimulationOptions& options) {
  const ScheduleSample& sample = subject.sample;
  const double connections = sample.connections * subject.pairs;
  if (options.level == NetworkLevel::packet) {
    return ports_of(subject) * kPortBytes + connections * 2 * kConnectionBytes;
  }
  const double laid_out = subject.blocks ? connections * kBlockEndBytes + sample.lanes * kBlockLaneBytes
                                         : connections * kConnectionBytes + sample.lanes * kLaneBytes;
  return laid_out + lanes_left(subject, options) * (connections * kRunningBytes + sample.lanes * kLaneBytes);
}

/// How long a schedule takes in so many loops, about: loops follow each other, and the last one has to come through the
/// other ranks. Each primitive waits until what the one before it has sent arrives.
struct Pipeline {
  double sending = 0;  ///< seconds, of all that a lane sends
  double latency = 0;  ///< seconds, of a message
  double steps = 0;    ///< of a loop
  double rounds = 0;   ///< that one loop alone takes

  double time(double loops) const {
    const double primitives = loops * std::max(1.0, steps);
    return (primitives + std::max(0.0, rounds - steps)) * (sending / primitives + latency);
  }
};

class Counter {
 public:
  explicit Counter(const RunRequest& request)
      : request_(request),
        hashed_(hashes(request.cluster)),
        links_(request.cluster.fabric->links()),
        nodes_(request.collective.ranks / std::max(1U, request.cluster.endpoints_per_node)),
        period_(period_of(request.cluster)) {}

  /// All that choose_fastest() tries.
  WorkCount choosing() {
    WorkCount work;
    for (const Algorithm* algorithm : request_.algorithms) {
      for (const Candidate& candidate : candidates_of(request_, *algorithm).fitting) { work += trying(candidate); }
    }
    return work;
  }

  /// What a candidate looks like that fits; none does: nothing.
  const std::optional<Subject>& first() const { return first_; }

 private:
  WorkCount trying(const Candidate& candidate) {
    if (candidate.by_packets()) { return by_slots(); }
    if (request_.profile.shares_machine()) { return on_one_machine(candidate); }
    const Subject whole = subject_of(candidate);
    if (!first_) { first_ = whole; }
    if (!candidate.may_choose_chunk()) { return tried(whole, request_.options); }
    SimulationOptions flows = request_.options;
    if (flows.level == NetworkLevel::packet) { flows.level = NetworkLevel::flow; }
    WorkCount work = tried(whole, flows);
    const double rounds = candidate.algorithm().cost(candidate.collective(), candidate.layout()).steps;
    const Pipeline pipeline{whole.sample.sending * whole.sample.crowding, whole.sample.latency, whole.sample.steps,
                            rounds};
    double loops = 1;
    for (Bytes chunk = payload(request_) / 4; chunk >= request_.element_size; chunk = chunk / 4) {
      work += tried(subject_of(candidate.in_chunks_of(chunk)), flows);
      if (pipeline.time(4 * loops) > pipeline.time(loops) * (1 - 1.0 / kWorthOfChunks)) { break; }
      loops *= 4;
    }
    if (request_.options.level == NetworkLevel::packet) { work += tried(whole, request_.options); }
    return work;
  }

  Subject subject_of(const Candidate& candidate) const {
    const auto schedule = candidate.schedule();
    const Placement placement = candidate.place(schedule->agent_count());
    const auto costs = candidate.costs(*schedule, request_.element_size);
    Subject subject{sample(*schedule, request_.cluster, placement, *costs, request_.options.packet.transport.payload),
                    hashed_,
                    false,
                    static_cast<double>(placement.queue_pairs),
                    links_,
                    nodes_,
                    period_};
    subject.blocks = subject.sample.agents >= request_.options.blocks_from;
    return subject;
  }

  /// Laid out, simulated, and simulated without bytes if it is the fastest.
  WorkCount tried(const Subject& subject, const SimulationOptions& options) const {
    WorkCount work;
    work[Work::link] = links_;
    if (options.level != NetworkLevel::packet) { add_preparation(subject, work); }
    add_run(subject, options, Payload::whole, work);
    if (request_.calls > 1) { add_run(subject, options, Payload::whole, work); }
    work.bytes = bytes_of(subject, options);
    return work;
  }

  /// A packet goes up to the switches and down again, over links between which somebody handles it.
  WorkCount by_slots() const {
    constexpr double kWays = 4;  // of two tiers, up and down
    const AggregatorSettings& slots = *request_.aggregation->slots;
    WorkCount work;
    work[Work::run] = 1;
    work[Work::link] = links_;
    const double packets =
        std::ceil(static_cast<double>(payload(request_).count()) / static_cast<double>(slots.payload.count())) *
        request_.collective.ranks;
    work[Work::slot_packet] = packets * 2;
    if (request_.options.level == NetworkLevel::packet) { work[Work::packet_hop] = packets * kWays * 2; }
    return work;
  }

  WorkCount on_one_machine(const Candidate& candidate) const {
    const auto schedule = candidate.schedule();
    WorkCount work;
    work[Work::run] = 1;
    const std::uint32_t agents = schedule->agent_count().agents;
    for (AgentId agent{0}; agent.value < agents; ++agent.value) {
      for (LaneId lane{0}; lane.value < schedule->lanes(agent); ++lane.value) {
        const Lane own = schedule->lane(agent, lane);
        work[Work::machine_step] += static_cast<double>(own.loops) * own.steps;
      }
    }
    if (request_.profile.threads) { work *= 2; }  // one to fill the caches
    return work;
  }

  const RunRequest& request_;
  bool hashed_;
  double links_;
  double nodes_;
  double period_;
  std::optional<Subject> first_;
};

}  // namespace

WorkCount work_of(const RunRequest& request) {
  Counter counter(request);
  WorkCount work = counter.choosing();
  if (counter.first()) { add_run(*counter.first(), request.options, Payload::none, work); }
  return work;
}

WorkCount work_of(const JobsRequest& request) {
  WorkCount work;
  WorkCount together;
  const Cluster bare = without_endpoints(request.cluster);
  std::optional<Subject> first;
  for (const JobRequest& job : request.jobs) {
    if (!request.like_first || &job == request.jobs.data()) {
      const Cluster own = cluster_of_job(request.cluster, bare, job.endpoints);
      const RunRequest one = request_of_job(request, job, own);
      Counter counter(one);
      work += counter.choosing();
      first = counter.first();
    }
    if (!first) { continue; }
    first->blocks = false;
    WorkCount beside;
    if (request.options.level != NetworkLevel::packet) { add_preparation(*first, beside); }
    add_run(*first, request.options, Payload::whole, beside);
    beside[Work::run] = 0;
    const double bytes = together.bytes + bytes_of(*first, request.options);
    together += beside;
    together.bytes = bytes;
  }
  const bool once = request.jobs.size() == 1 && request.options.level != NetworkLevel::packet;
  if (!once) { work += together; }
  return work;
}

}  // namespace athanor
