#include "models/workload/collective_timer.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "models/software/profile.hpp"
#include "sim/check.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

std::vector<LinkShare> shares_of(const Fabric& fabric, const std::vector<LinkLoad>& loads, Time time) {
  std::vector<LinkShare> shares;
  for (const LinkLoad& load : loads) {
    if (load.carried == Bytes::zero()) { continue; }
    const Time busy = transfer_time(load.carried, fabric.link(load.link).usable);
    shares.push_back({load.link.value, std::min(1.0, seconds(busy) / seconds(time))});
  }
  return shares;
}

/// Sets of groups that have no endpoint in common: pairs that pass messages on meet at their endpoints.
std::vector<EndpointGroups> disjoint_sets(const EndpointGroups& groups) {
  std::vector<EndpointGroups> sets;
  std::vector<std::set<std::uint32_t>> taken;
  for (const std::vector<std::uint32_t>& group : groups) {
    const auto has_room = [&](const std::set<std::uint32_t>& set) {
      return std::none_of(group.begin(), group.end(), [&](std::uint32_t each) { return set.contains(each); });
    };
    const auto found = static_cast<std::size_t>(std::find_if(taken.begin(), taken.end(), has_room) - taken.begin());
    if (found == taken.size()) {
      taken.emplace_back();
      sets.emplace_back();
    }
    taken[found].insert(group.begin(), group.end());
    sets[found].push_back(group);
  }
  return sets;
}

/// GPUs without a way of their own meet in the network.
bool leaves_node(const Fabric& fabric, const std::vector<LinkShare>& shares) {
  return std::any_of(shares.begin(), shares.end(), [&](const LinkShare& part) {
    return fabric.vertex(fabric.source(LinkId{part.link})).node == kNoNode;
  });
}

}  // namespace

void SkippedPackets::add(const PacketCounters& run) {
  if (!run.skips) { return; }
  simulated += run.hosts.data;
  if (!skips) { skips.emplace(); }
  skips->packets += run.skips->packets;
  skips->skips += run.skips->skips;
  skips->remembered += run.skips->remembered;
  skips->skipped += run.skips->skipped;
  skips->active += run.skips->active;
  skips->checks += run.skips->checks;
  skips->checked += run.skips->checked;
  skips->error += run.skips->error;
  skips->worst_error = std::max(skips->worst_error, run.skips->worst_error);
}

std::uint32_t CollectiveTimer::node_of(std::uint32_t endpoint) const {
  return settings_.cluster.fabric->vertex(settings_.cluster.endpoints.at(endpoint)).node;
}

bool CollectiveTimer::within_nodes(const EndpointGroups& groups) const {
  return std::all_of(groups.begin(), groups.end(), [&](const std::vector<std::uint32_t>& group) {
    const std::uint32_t node = node_of(group.front());
    return node != kNoNode &&
           std::all_of(group.begin(), group.end(), [&](std::uint32_t each) { return node_of(each) == node; });
  });
}

CollectiveTimer::CollectiveTimer(PricingSettings settings)
    : settings_(std::move(settings)), nodes_(*settings_.cluster.fabric) {}

std::partial_ordering CollectiveTimer::ExchangeOfCall::operator<=>(const ExchangeOfCall& other) const {
  const bool both = *this && other;
  return both ? **this <=> *other : static_cast<bool>(*this) <=> static_cast<bool>(other);
}

CollectiveTimer::Question CollectiveTimer::question_of(const Workload::Call& call) {
  Question question{call.kind, call.size, call.type, call.root, {call.exchange}};
  if (call.imbalance > 1) {
    question.size = Bytes{static_cast<std::int64_t>(static_cast<double>(call.size.count()) * call.imbalance)};
  }
  return in_whole_elements(question);
}

CollectiveTimer::Question CollectiveTimer::in_whole_elements(Question question) {
  const Bytes element = size_of(question.type);
  question.size = element * ceil_div(question.size.count(), element.count());
  return question;
}

const CallEstimate& CollectiveTimer::estimate(const Workload& workload, const Workload::Call& call) {
  return estimate(*workload.communicators.at(call.communicator).groups, question_of(call));
}

Time CollectiveTimer::time(const Workload& workload, const Workload::Call& call) {
  const EndpointGroups& groups = *workload.communicators.at(call.communicator).groups;
  const Question question = question_of(call);
  if (groups.front().size() > 1 && within_nodes(groups)) {
    Time slowest;
    bool meet = false;  // in the network, for want of a way inside
    for (const auto& [node, own] : by_node(groups)) {
      const CallEstimate& estimate = of_node(node, own, question);
      slowest = std::max(slowest, estimate.time);
      meet = meet || leaves_node(*settings_.cluster.fabric, *estimate.shares);
    }
    if (!meet) { return slowest; }
  }
  return estimate(groups, question).time;
}

void CollectiveTimer::forget() {
  known_.clear();
  remembered_ = 0;
}

const CallEstimate& CollectiveTimer::estimate(const Workload::Channel& channel, Bytes size) {
  return estimate(*channel.pairs, in_whole_elements({CollectiveKind::send_receive, size, DataType::int8, 0}));
}

const CallEstimate& CollectiveTimer::estimate(const EndpointGroups& groups, const Question& question) {
  require(!groups.empty() && !groups.front().empty(), "a call without ranks");
  const auto [found, fresh] = known_.try_emplace({groups, question});
  if (!fresh) { return found->second; }
  try {
    const std::vector<EndpointGroups> sets = disjoint_sets(groups);
    found->second = groups.front().size() == 1 ? on_device(question)
                    : sets.size() > 1          ? side_by_side(sets, question)
                    : within_nodes(groups)     ? one_node(groups, question)
                                               : simulate(groups, question);
    found->second.latency = latency(groups, question, found->second);
  } catch (...) {
    known_.erase(found);
    throw;
  }
  remembered_ += found->second.shares->size() + groups.size() * groups.front().size();
  return found->second;
}

/// Of one rank alone there is nothing to do.
CallEstimate CollectiveTimer::on_device(const Question& question) const {
  CallEstimate estimate;
  estimate.size = question.size;
  estimate.kind = question.kind;
  estimate.algorithm = "none";
  estimate.shares = std::make_shared<const std::vector<LinkShare>>();
  return estimate;
}

/// Whatever a call does, it takes at least as long as the least message between the ends of its first group, in
/// which no link has anything to carry. Not more than what its busiest link leaves of its time.
Time CollectiveTimer::latency(const EndpointGroups& groups, const Question& question, const CallEstimate& estimate) {
  const auto busy =
      static_cast<std::int64_t>(std::ceil(estimate.busiest().share * static_cast<double>(estimate.time.count())));
  const Time idle = estimate.time - std::min(estimate.time, Time{busy});
  const Question least{CollectiveKind::send_receive, size_of(question.type), question.type, 0};
  const EndpointGroups ends{{groups.front().front(), groups.front().back()}};
  if (groups.front().size() == 1 || (question == least && groups == ends)) { return idle; }
  return std::min(idle, this->estimate(ends, least).time);
}

CollectiveTimer::ByNode CollectiveTimer::by_node(const EndpointGroups& groups) const {
  ByNode nodes;
  for (const std::vector<std::uint32_t>& group : groups) { nodes[node_of(group.front())].push_back(group); }
  return nodes;
}

CollectiveTimer::InNode CollectiveTimer::in_node(std::uint32_t node, const EndpointGroups& groups) {
  InNode result{nodes_.kind_of(node), {}};
  for (const std::vector<std::uint32_t>& group : groups) {
    std::vector<std::uint32_t>& places = result.places.emplace_back();
    for (const std::uint32_t endpoint : group) {
      places.push_back(settings_.cluster.fabric->vertex(settings_.cluster.endpoints[endpoint]).index);
    }
  }
  return result;
}

const CallEstimate& CollectiveTimer::of_node(std::uint32_t node, const EndpointGroups& groups,
                                             const Question& question) {
  std::pair<InNode, Question> key{in_node(node, groups), question};
  const auto found = in_node_.find(key);
  if (found != in_node_.end()) { return found->second; }
  return in_node_.emplace(std::move(key), simulate(groups, question)).first->second;
}

/// Groups of different nodes do not meet.
CallEstimate CollectiveTimer::one_node(const EndpointGroups& groups, const Question& question) {
  const ByNode nodes = by_node(groups);
  CallEstimate slowest;
  for (const auto& [node, own] : nodes) {
    const CallEstimate& estimate = of_node(node, own, question);
    if (leaves_node(*settings_.cluster.fabric, *estimate.shares)) { return simulate(groups, question); }
    if (slowest.shares == nullptr || estimate.time > slowest.time) { slowest = estimate; }
  }
  std::vector<LinkShare> shares;
  for (const auto& [node, own] : nodes) { add_shares(node, of_node(node, own, question), slowest.time, shares); }
  slowest.shares = std::make_shared<const std::vector<LinkShare>>(std::move(shares));
  return slowest;
}

/// All sets move at the same time, and each was simulated alone: together they take as long as the slowest of them, or
/// as a link needs for what all of them send over it and then the latency of whoever uses it.
CallEstimate CollectiveTimer::side_by_side(const std::vector<EndpointGroups>& sets, const Question& question) {
  CallEstimate slowest;
  std::map<std::uint32_t, double> busy;  // ps
  for (const EndpointGroups& set : sets) {
    const CallEstimate& own = estimate(set, question);
    if (slowest.shares == nullptr || own.time > slowest.time) { slowest = own; }
    for (const LinkShare& part : *own.shares) { busy[part.link] += part.share * static_cast<double>(own.time.count()); }
  }
  for (const EndpointGroups& set : sets) {
    const CallEstimate& own = estimate(set, question);
    for (const LinkShare& part : *own.shares) {
      const Time carried{static_cast<std::int64_t>(std::ceil(busy.at(part.link)))};
      slowest.time = std::max(slowest.time, carried + own.latency);
    }
  }
  const auto whole = static_cast<double>(slowest.time.count());
  std::vector<LinkShare> shares;
  for (const auto& [link, time] : busy) { shares.push_back({link, std::min(1.0, time / whole)}); }
  slowest.shares = std::make_shared<const std::vector<LinkShare>>(std::move(shares));
  return slowest;
}

/// What the links of one node carry, the same links of a node that looks alike carry; of the whole of a longer time.
void CollectiveTimer::add_shares(std::uint32_t node, const CallEstimate& own, Time whole, std::vector<LinkShare>& all) {
  const double part = seconds(own.time) / seconds(whole);
  for (const LinkShare& each : *own.shares) {
    all.push_back({nodes_.same_link(LinkId{each.link}, node).value, each.share * part});
  }
}

/// The least number of ranks that the group has in one of its nodes; none: as the profile says.
std::optional<std::uint32_t> CollectiveTimer::channels(const std::vector<std::uint32_t>& group,
                                                       CollectiveKind kind) const {
  const bool ring = kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_gather ||
                    kind == CollectiveKind::reduce_scatter;
  if (!ring || within_nodes({group})) { return std::nullopt; }
  std::map<std::uint32_t, std::uint32_t> in_node;
  for (const std::uint32_t endpoint : group) {
    if (node_of(endpoint) == kNoNode) { return std::nullopt; }
    ++in_node[node_of(endpoint)];
  }
  const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
  return std::min_element(in_node.begin(), in_node.end(), fewer)->second;
}

/// As groups would be alone: what is fastest of the usual algorithms and of those by engines. That these are offered
/// beside the others leaves groups that get no engines with something to run.
CallEstimate CollectiveTimer::simulate(const EndpointGroups& groups, const Question& question) {
  if (question.exchange) { return exchanged(groups, question); }
  const std::vector<const Algorithm*> usual = settings_.algorithms(question.kind);
  CallEstimate estimate = run(groups, question, usual, settings_.ring_per_rank);
  if (!settings_.by_engines || within_nodes(groups)) { return estimate; }
  std::vector<const Algorithm*> all = settings_.by_engines(question.kind);
  if (all.empty()) { return estimate; }
  all.insert(all.end(), usual.begin(), usual.end());
  CallEstimate other = run(groups, question, all, false);
  return other.time < estimate.time ? other : estimate;
}

/// By kernels of their own, which no profile of collectives knows.
CallEstimate CollectiveTimer::exchanged(const EndpointGroups& groups, const Question& question) {
  SimulationOptions options = settings_.options;
  options.each_link = true;
  const ExchangeTimes times =
      settings_.exchange(*question.exchange, groups, settings_.cluster, settings_.seed, options);
  ++simulated_;
  if (times.use.packets) { packets_.add(*times.use.packets); }
  CallEstimate estimate{.time = times.time,
                        .latency = Time::zero(),
                        .size = question.size,
                        .kind = question.kind,
                        .algorithm = std::string(name(question.exchange->kind)),
                        .protocol = question.exchange->combines ? "combine" : "dispatch",
                        .channels = 1,
                        .extrapolated = false,
                        .shares = nullptr};
  estimate.shares = std::make_shared<const std::vector<LinkShare>>(
      shares_of(*settings_.cluster.fabric, times.use.loads, estimate.time));
  return estimate;
}

/// `rings`: there is one for each rank of a node.
CallEstimate CollectiveTimer::run(const EndpointGroups& groups, const Question& question,
                                  const std::vector<const Algorithm*>& algorithms, bool rings) {
  const auto ranks = static_cast<std::uint32_t>(groups.front().size());
  const Bytes element = size_of(question.type);
  JobsRequest request{.cluster = settings_.cluster,
                      .profile = settings_.profile,
                      .jobs = {},
                      .options = settings_.options,
                      .seed = settings_.seed,
                      .aggregation = settings_.aggregation,
                      .like_first = true,
                      .bounds = false};
  request.options.each_link = true;
  const auto nccl = settings_.nccl ? settings_.nccl(groups.front()) : nullptr;
  for (const std::vector<std::uint32_t>& group : groups) {
    require(group.size() == ranks, "groups of {} and {} ranks in one call", ranks, group.size());
    JobRequest& job = request.jobs.emplace_back();
    job.endpoints = group;
    job.collective.kind = question.kind;
    job.collective.ranks = ranks;
    job.collective.count = Elements{question.size / element};
    job.collective.root = question.root;
    job.element_size = element;
    job.type = question.type;
    job.algorithms = algorithms;
    job.nccl = nccl;
    if (rings) { job.overrides.channels = channels(group, question.kind); }
  }
  const JobsResult result = settings_.run(request);
  ++simulated_;
  settled_.add(result.simulated.settled);
  if (result.simulated.network.packets) { packets_.add(*result.simulated.network.packets); }
  const RunResult& first = result.jobs.front().alone;
  CallEstimate estimate{.time = std::max(result.time, first.time),
                        .latency = Time::zero(),  // estimate() finds it
                        .size = question.size,
                        .kind = question.kind,
                        .algorithm = first.algorithm,
                        .protocol = first.protocol,
                        .channels = first.channels,
                        .extrapolated = first.extrapolated,
                        .shares = nullptr};
  estimate.shares = std::make_shared<const std::vector<LinkShare>>(
      shares_of(*settings_.cluster.fabric, result.simulated.network.loads, estimate.time));
  return estimate;
}

}  // namespace athanor
