#include "models/aggregators/aggregation_protocol.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/engines/trees/aggregation_manager.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

Bytes last_payload(const AggregationJob& job, const AggregatorSettings& settings) {
  const Bytes rest = job.bytes % settings.payload.count();
  return rest == Bytes::zero() ? settings.payload : rest;
}

}  // namespace

double share_in_switches(const AggregationJobResult& job) {
  const std::uint64_t additions = job.results - job.packets;  // of every packet, one less than there are workers
  return additions == 0 ? 1 : 1 - static_cast<double>(job.server_additions) / static_cast<double>(additions);
}

AggregationProtocol::AggregationProtocol(Simulator& simulator, AggregationTransport& carrier,
                                         const std::vector<AggregationJob>& jobs, const AggregatorSettings& settings,
                                         const Cluster& cluster)
    : carrier_(carrier),
      jobs_(jobs),
      settings_(settings),
      cluster_(cluster),
      simulator_(simulator),
      self_(simulator.add(*this)),
      results_(jobs.size()) {
  for (std::uint32_t job = 0; job < jobs.size(); ++job) {
    results_[job].packets = static_cast<std::uint64_t>(ceil_div(jobs[job].bytes.count(), settings.payload.count()));
    workers_left_.push_back(static_cast<std::uint32_t>(jobs[job].workers.size()));
  }
}

PlacedTree AggregationProtocol::tree_of(const std::vector<VertexId>& endpoints) const {
  return build_aggregation_tree(*cluster_.fabric, endpoints, settings_.engines, cluster_.network);
}

/// A host that is busy for some time with each packet sends, or takes in, one packet in that time.
Bandwidth AggregationProtocol::busy_rate() const {
  if (settings_.host_packet_time == Time::zero()) { return Bandwidth::max(); }
  const Wide rate =
      Wide{(settings_.payload + settings_.header).count()} * 1'000'000'000'000 / settings_.host_packet_time.count();
  return Bandwidth{std::max<std::int64_t>(static_cast<std::int64_t>(std::min(rate, Wide{INT64_MAX})), 1)};
}

ConnectionId AggregationProtocol::connect(std::uint32_t job, VertexId from, End sender, VertexId to, End receiver,
                                          std::uint32_t span) {
  AggregationTransport::Route route;
  route.from = from;
  route.to = to;
  route.job = job;
  route.last = last_payload(jobs_[job], settings_);
  route.packets = packets(job);
  route.marks = sender == End::aggregator && settings_.mark_above < Bytes::max();
  route.span = span;
  if (sender != End::aggregator || receiver == End::server) { route.cap = busy_rate(); }
  if (receiver == End::aggregator) { route.cap = std::min(route.cap, settings_.port_rate); }
  route.latency = receiver == End::aggregator ? settings_.pipeline_latency : settings_.host_latency;
  return carrier_.add(route);
}

void AggregationProtocol::start() {
  for (std::uint32_t job = 0; job < jobs_.size(); ++job) {
    results_[job].lossless_round_trip = round_trip(job);
    if (settings_.timeout <= results_[job].lossless_round_trip) {
      throw SimulationError(
          "timeout-too-short",
          fmt::format("workers send a packet again after {}, but its result takes {} where nothing waits: every packet "
                      "would be repeated; raise the timeout",
                      to_string(settings_.timeout), to_string(results_[job].lossless_round_trip)));
    }
    simulator_.at(jobs_[job].start, self_, job);
  }
}

void AggregationProtocol::on_event(std::uint64_t what) {
  if (what == kTimers) { return work_off_timers(); }
  begin(static_cast<std::uint32_t>(what));
}

void AggregationProtocol::start_timer(std::uint32_t job, std::uint32_t worker, std::uint32_t sequence,
                                      std::uint32_t tries) {
  timers_.push({simulator_.now() + settings_.timeout, job, worker, sequence, tries});
  if (timers_pending_) { return; }
  timers_pending_ = true;
  simulator_.at(timers_.front().deadline, self_, kTimers);
}

/// Most have been answered by then: those cost a look, and no event.
void AggregationProtocol::work_off_timers() {
  timers_pending_ = false;
  while (!timers_.empty()) {
    const Timer timer = timers_.front();
    const bool waits_yet = waits(timer.job, timer.worker, timer.sequence, timer.tries);
    if (waits_yet && timer.deadline > simulator_.now()) { break; }
    timers_.pop();
    if (waits_yet) { time_out(timer.job, timer.worker, timer.sequence); }
  }
  if (timers_.empty() || timers_pending_) { return; }
  timers_pending_ = true;
  simulator_.at(timers_.front().deadline, self_, kTimers);
}

void AggregationProtocol::check_tries(std::uint32_t job, std::uint32_t worker, std::uint32_t sequence,
                                      std::uint32_t tries) const {
  if (tries < settings_.most_tries) { return; }
  throw SimulationError(
      "given-up",
      fmt::format("{} sent packet {} of job {} {} times and got no result by {}, with a loss of {} on each way and a "
                  "timeout of {}; without waiting a result takes {}: lower the loss, or raise the timeout above what "
                  "packets wait for each other",
                  cluster_.fabric->name(jobs_[job].workers[worker]), sequence, job, tries, to_string(simulator_.now()),
                  to_double(settings_.loss), to_string(settings_.timeout),
                  to_string(results_[job].lossless_round_trip)));
}

void AggregationProtocol::check_sum(std::uint32_t job, const AggregationPacket& packet) const {
  const std::uint64_t workers = jobs_[job].workers.size();
  require(packet.sum == workers * (workers + 1) / 2, "packet {} of job {} with {} workers has the sum {}",
          packet.sequence, job, workers, packet.sum);
}

void AggregationProtocol::worker_ends(std::uint32_t job) {
  if (--workers_left_[job] > 0) { return; }
  results_[job].time = simulator_.now() - jobs_[job].start;
  end_ = simulator_.now();
}

std::vector<AggregationJobResult> AggregationProtocol::take_results() {
  for (std::uint32_t job = 0; job < jobs_.size(); ++job) {
    results_[job].lost = carrier_.lost(job);
    if (workers_left_[job] == 0) { continue; }
    throw SimulationError("given-up", fmt::format("{} of {} workers of job {} wait for results that nothing brings",
                                                  workers_left_[job], jobs_[job].workers.size(), job));
  }
  return std::move(results_);
}

}  // namespace athanor
