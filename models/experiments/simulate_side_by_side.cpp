#include "models/experiments/simulate_side_by_side.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "models/experiments/background_traffic.hpp"
#include "models/experiments/placed_workload.hpp"
#include "models/workload/link_order.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

Time with_stragglers(const SideJob& job, Time period) {
  if (!job.training) { return period; }
  return with_stragglers(period, job.training->setup.plan, job.training->setup.compute);
}

/// How long both have something under way. Requires stretches in order.
Time common(const std::vector<TimeStretch>& a, const std::vector<TimeStretch>& b) {
  Time sum;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Time begin = std::max(a[i].begin, b[j].begin);
    const Time end = std::min(a[i].end, b[j].end);
    if (end > begin) { sum += end - begin; }
    a[i].end < b[j].end ? ++i : ++j;
  }
  return sum;
}

/// All of them, those that touch as one.
std::vector<TimeStretch> joined_stretches(std::vector<TimeStretch> all) {
  std::sort(all.begin(), all.end(), [](const TimeStretch& a, const TimeStretch& b) { return a.begin < b.begin; });
  std::vector<TimeStretch> joined;
  for (const TimeStretch& each : all) {
    if (joined.empty() || each.begin > joined.back().end) {
      joined.push_back(each);
    } else {
      joined.back().end = std::max(joined.back().end, each.end);
    }
  }
  return joined;
}

/// Those that begin before `end`, cut off there.
std::vector<TimeStretch> until(std::vector<TimeStretch> all, Time end) {
  while (!all.empty() && all.back().begin >= end) { all.pop_back(); }
  if (!all.empty()) { all.back().end = std::min(all.back().end, end); }
  return all;
}

/// All that shares the fabric, priced.
class SideBySide {
 public:
  SideBySide(const SideBySideSetup& setup, const PricingSettings& pricing, const PricingSettings& bare,
             const std::stop_token& stop)
      : setup_(setup), stop_(stop), timer_(pricing), bare_(bare), prices_(bare_) {
    for (const SideJob& job : setup.jobs) { place(job); }
    for (const SideTraffic& traffic : setup.traffic) { add(traffic, pricing.cluster); }
    find_links();
  }

  SideBySideResult run() {
    SideBySideResult result;
    result.links = links_;
    std::vector<std::uint32_t> numbers;
    for (const ContestedLink& each : links_) { numbers.push_back(each.link); }
    for (std::size_t job = 0; job < jobs_.size(); ++job) { result.jobs.push_back(begin(job, numbers)); }
    if (setup_.shifts == ShiftRule::cassini) { shift(numbers, result); }
    if (setup_.priorities == PriorityRule::crux) { order(result); }
    tell(result);
    return result;
  }

 private:
  void place(const SideJob& job) {
    const double interference = job.training ? job.training->setup.compute.interference : 0;
    jobs_.push_back(std::make_unique<PlacedWorkload>(*job.workload, job.endpoints, interference, timer_, stop_));
    demands_.push_back(jobs_.back()->demand());
  }

  void add(const SideTraffic& traffic, const Cluster& cluster) {
    if (!traffic.rate) {
      messages_.push_back(std::make_unique<BackgroundMessages>(traffic.matrix, traffic.every, prices_));
      demands_.push_back(messages_.back()->demand());
      streams_of_traffic_.push_back({});
      return;
    }
    messages_.push_back(nullptr);
    std::map<std::uint32_t, double> sums;
    streams_of_traffic_.push_back(streams_of(traffic.matrix, *traffic.rate, cluster, prices_));
    for (const std::vector<LinkShare>& stream : streams_of_traffic_.back()) {
      for (const LinkShare& part : stream) { sums[part.link] += part.share; }
    }
    std::vector<LinkDemand>& demand = demands_.emplace_back();
    for (const auto& [link, share] : sums) { demand.push_back({link, share}); }
  }

  void find_links() {
    std::vector<const std::vector<LinkDemand>*> all;
    for (const std::vector<LinkDemand>& each : demands_) { all.push_back(&each); }
    std::map<std::uint32_t, std::vector<std::uint32_t>> users;
    for (const std::uint32_t link : groups_by_links(all).links) { users[link] = {}; }
    for (std::uint32_t user = 0; user < demands_.size(); ++user) {
      for (const LinkDemand& each : demands_[user]) {
        const auto found = users.find(each.link);
        if (found != users.end() && each.share > 0) { found->second.push_back(user); }
      }
    }
    for (auto& [link, own] : users) { links_.push_back({link, std::move(own)}); }
  }

  SideJobResult begin(std::size_t number, const std::vector<std::uint32_t>& links) {
    const SideJob& job = setup_.jobs[number];
    PlacedWorkload& placed = *jobs_[number];
    SideJobResult result;
    result.alone = with_stragglers(job, placed.alone());
    result.start = job.start;
    result.priority = job.priority;
    result.computing = placed.computing_seconds();
    result.intensity = result.computing / std::max(1e-12, placed.busiest_link_seconds());
    RepeatedStep& step = steps_.emplace_back(placed.beside_others(links));
    step.priority = job.priority;
    step.behind = result.alone - placed.alone();
    step.repetitions = job.steps;
    return result;
  }

  void shift(const std::vector<std::uint32_t>& links, SideBySideResult& result) {
    std::vector<JobCircle> circles;
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      circles.push_back({result.jobs[job].alone, jobs_[job]->arcs(links)});
    }
    result.shifts = compatible_shifts(circles);
    for (std::size_t job = 0; job < jobs_.size(); ++job) { result.jobs[job].start = result.shifts->shifts[job]; }
  }

  void order(SideBySideResult& result) {
    std::vector<OrderedJob> jobs;
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      OrderedJob& own = jobs.emplace_back(OrderedJob{steps_[job], result.jobs[job].intensity, 0, {}});
      for (const auto& [link, time] : jobs_[job]->busy_seconds()) { own.traffic += time; }
      for (std::uint32_t link = 0; link < links_.size(); ++link) {
        if (std::binary_search(links_[link].users.begin(), links_[link].users.end(), job)) { own.links.insert(link); }
      }
      own.busy = jobs_[job]->busiest_link_seconds();
    }
    const std::vector<std::uint32_t> classes = crux_classes(jobs, setup_.classes, stop_);
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      steps_[job].priority = result.jobs[job].priority = classes[job];
    }
  }

  void tell(SideBySideResult& result) {
    std::vector<RepeatedStep> all = steps_;
    std::vector<Time> begins;
    for (const SideJobResult& job : result.jobs) { begins.push_back(job.start); }
    std::vector<std::vector<LinkShare>> streams;
    for (std::size_t traffic = 0; traffic < messages_.size(); ++traffic) {
      if (messages_[traffic]) {
        all.push_back(messages_[traffic]->step());
        begins.push_back(Time::zero());
      }
      streams.insert(streams.end(), streams_of_traffic_[traffic].begin(), streams_of_traffic_[traffic].end());
    }
    StepsSideBySide::Story story = StepsSideBySide(all, streams).story(begins, setup_.steps, stop_);
    result.events = story.events;
    put_traffic(story.streams, result);
    for (std::size_t job = 0; job < result.jobs.size(); ++job) { put_steps(job, story.steps, result.jobs[job]); }
  }

  void put_traffic(const std::vector<double>& streams, SideBySideResult& result) const {
    std::size_t next = 0;
    for (const auto& own : streams_of_traffic_) {
      const auto first = streams.begin() + static_cast<std::ptrdiff_t>(next);
      next += own.size();
      const auto last = streams.begin() + static_cast<std::ptrdiff_t>(next);
      result.traffic.push_back(own.empty() ? -1 : std::accumulate(first, last, 0.0) / static_cast<double>(own.size()));
    }
  }

  void put_steps(std::size_t number, const std::vector<StepStory>& stories, SideJobResult& job) const {
    job.story = stories[number];
    const std::size_t wanted = setup_.jobs[number].steps > 0 ? setup_.jobs[number].steps : setup_.steps;
    Time last = job.start;
    for (std::size_t step = 0; step < std::min(wanted, job.story.ends.size()); ++step) {
      job.steps.push_back(job.story.ends[step] - last);
      last = job.story.ends[step];
    }
    const std::vector<TimeStretch> own = until(job.story.sending, last);
    for (const TimeStretch& each : own) { job.sending += each.end - each.begin; }
    std::vector<TimeStretch> others;
    for (const std::uint32_t other : met_by(static_cast<std::uint32_t>(number))) {
      const std::vector<TimeStretch>& more = stories[other].sending;
      others.insert(others.end(), more.begin(), more.end());
    }
    job.overlapped = common(own, joined_stretches(std::move(others)));
  }

  /// The steps of those that share a link with a job, by their places in the story.
  std::set<std::uint32_t> met_by(std::uint32_t job) const {
    std::set<std::uint32_t> all;
    for (const ContestedLink& link : links_) {
      if (!std::binary_search(link.users.begin(), link.users.end(), job)) { continue; }
      for (const std::uint32_t user : link.users) {
        if (user == job) { continue; }
        if (user < jobs_.size()) {
          all.insert(user);
        } else if (messages_[user - jobs_.size()]) {
          const auto end = messages_.begin() + static_cast<std::ptrdiff_t>(user - jobs_.size());
          const auto before = std::count_if(messages_.begin(), end, [](const auto& each) { return each != nullptr; });
          all.insert(static_cast<std::uint32_t>(jobs_.size() + static_cast<std::size_t>(before)));
        }
      }
    }
    return all;
  }

  const SideBySideSetup& setup_;
  std::stop_token stop_;
  CollectiveTimer timer_;
  CollectiveTimer bare_;
  MessagePrices prices_;
  std::vector<std::unique_ptr<PlacedWorkload>> jobs_;
  std::vector<std::unique_ptr<BackgroundMessages>> messages_;            ///< by traffic; null: it has a rate
  std::vector<std::vector<std::vector<LinkShare>>> streams_of_traffic_;  ///< by traffic and connection
  std::vector<std::vector<LinkDemand>> demands_;                         ///< of jobs, then of traffic
  std::vector<ContestedLink> links_;
  std::vector<RepeatedStep> steps_;  ///< of jobs
};

}  // namespace

Time SideJobResult::mean(std::uint32_t warm_up) const {
  require(warm_up < steps.size(), "a mean of no steps");
  Time sum;
  for (std::size_t step = warm_up; step < steps.size(); ++step) { sum += steps[step]; }
  return sum / static_cast<std::int64_t>(steps.size() - warm_up);
}

SideBySideResult simulate_side_by_side(const SideBySideSetup& setup, const PricingSettings& pricing,
                                       const PricingSettings& bare, const std::stop_token& stop) {
  return SideBySide(setup, pricing, bare, stop).run();
}

}  // namespace athanor
