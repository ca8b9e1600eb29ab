#include "models/workload/side_by_side.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/disjoint_groups.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

std::uint32_t count(const auto& list) { return static_cast<std::uint32_t>(list.size()); }

/// When each step was done again and again, until all that count have been done often enough.
class Repetitions {
 public:
  /// `wanted`: of those that do not say themselves after how many they end.
  Repetitions(std::span<const RepeatedStep* const> steps, std::uint32_t wanted) : ends_(steps.size()) {
    for (const RepeatedStep* step : steps) {
      steps_.push_back({step->repetitions > 0 ? step->repetitions : wanted, step->repetitions > 0, step->counts});
      if (step->counts) { ++left_; }
    }
  }

  /// A step has been done: is it done again?
  bool done(std::uint32_t step, Time now) {
    if (left_ == 0) { return false; }  // not all of them were beside it
    const Wanted& wanted = steps_[step];
    std::vector<Time>& ends = ends_[step];
    ends.push_back(now);
    const bool enough = ends.size() == wanted.times;
    if (enough && wanted.counts) { --left_; }
    return left_ > 0 && !(enough && wanted.ends);
  }

  bool each_was_done() const {
    for (std::size_t step = 0; step < ends_.size(); ++step) {
      if (steps_[step].counts && ends_[step].empty()) { return false; }
    }
    return true;
  }
  bool are_enough() const { return left_ == 0; }

  Time period(std::uint32_t step) const {
    const std::vector<Time>& ends = ends_[step];
    return (ends.back() - ends.front()) / static_cast<std::int64_t>(ends.size() - 1);
  }
  std::vector<Time> take_ends(std::uint32_t step) { return std::move(ends_[step]); }

 private:
  struct Wanted {
    std::size_t times = 1;
    bool ends = false;  ///< when it has been done so often
    bool counts = true;
  };

  std::vector<Wanted> steps_;
  std::vector<std::vector<Time>> ends_;
  std::size_t left_ = 0;  ///< steps that count and have not been done often enough
};

constexpr double kFull = 1 + 1e-6;  // as of CallShares

/// What the steps of a list have transfers of, one after the other.
struct Prices {
  std::vector<std::vector<std::uint32_t>> numbers;  ///< by step and its estimate, into the others; kNone: no transfer
  std::vector<Transfers::Work> works;
  std::vector<std::vector<LinkShare>> shares;
  std::vector<std::uint32_t> most;
  std::vector<std::uint32_t> priorities;
};

constexpr std::uint32_t kNone = UINT32_MAX;
constexpr Time kOfStream{10'000'000'000'000};  // one transfer of a stream; any will do

Prices prices_of(std::span<const RepeatedStep> steps) {
  Prices all;
  for (const RepeatedStep& step : steps) {
    std::vector<std::uint32_t>& numbers = all.numbers.emplace_back(step.estimates->estimates.size(), kNone);
    for (const ContestedStep::Transfer& each : step.step->transfers) {
      if (numbers[each.estimate] != kNone) { continue; }
      const CallEstimate& estimate = *step.estimates->estimates[each.estimate];
      numbers[each.estimate] = count(all.works);
      all.works.push_back({estimate.transfer(), estimate.latency});
      all.shares.push_back(estimate.transfer_shares());
      all.most.push_back((*step.most)[each.estimate]);
      all.priorities.push_back(step.priority);
    }
  }
  return all;
}

}  // namespace

/// Steps on the event core.
class StepsSideBySide::Run final : public Actor, public Transfers::Listener {
 public:
  Run(const StepsSideBySide& all, std::span<const Time> begins, std::uint32_t repetitions, const std::stop_token& stop)
      : steps_(all.steps_),
        waits_(steps_.size()),
        repetitions_(given(all), repetitions),
        stories_(steps_.size()),
        under_way_(steps_.size()),
        began_(steps_.size()),
        simulator_(stop),
        self_(simulator_.add(*this)),
        transfers_(simulator_, all.works_, all.shares_, *this),
        first_stream_(all.first_stream_),
        streams_(all.works_.size() - all.first_stream_) {
    for (std::uint64_t step = 0; step < begins.size(); ++step) {
      simulator_.at(begins[step], self_, step << 32U | kBegin);
    }
    for (std::uint64_t stream = 0; stream < streams_.size(); ++stream) {
      simulator_.at(Time::zero(), self_, stream << 32U | kStream);
    }
  }

  Outcome run() {
    simulator_.run();
    Outcome outcome;
    for (std::uint32_t step = 0; step < steps_.size(); ++step) { outcome.periods.push_back(repetitions_.period(step)); }
    outcome.streams = shares_of_streams();
    return outcome;
  }

  Story story() {
    from_.done.assign(streams_.size(), 0);
    simulator_.run();
    Story story{std::move(stories_), shares_of_streams(), simulator_.events()};
    for (std::uint32_t step = 0; step < steps_.size(); ++step) {
      story.steps[step].ends = repetitions_.take_ends(step);
    }
    return story;
  }

  void on_event(std::uint64_t what) override {
    const auto step = static_cast<std::uint32_t>(what >> 32U);
    const auto transfer = static_cast<std::uint32_t>(what);
    if (transfer == kStream) { return stream(step); }
    if (transfer == kBegin) { return begin(step); }
    const Step& own = steps_[step];
    if (transfer == own.given.step->transfers.size()) { return end(step); }
    if (under_way_[step]++ == 0) { stories_[step].sending.push_back({simulator_.now(), {}}); }
    start(own.works[transfer], step, transfer);
  }

  void transferred(std::uint32_t number) override {
    const auto [step, transfer] = running_[number];
    if (transfer != kStream) {
      if (--under_way_[step] == 0) { stories_[step].sending.back().end = simulator_.now(); }
      return release(step, steps_[step].given.step->transfers[transfer].successors);
    }
    ++streams_[step].transfers;
    if (!repetitions_.are_enough()) { stream(step); }
  }

 private:
  static constexpr std::uint32_t kBegin = UINT32_MAX;
  static constexpr std::uint32_t kStream = UINT32_MAX - 1;  ///< of whom the number of a step is that of the stream
  struct Stream {
    std::uint32_t number = 0;     ///< of its present transfer
    std::uint64_t transfers = 0;  ///< that have ended
  };
  /// What streams have done, in picoseconds alone.
  struct Reading {
    std::vector<double> done;
    Time when;
  };
  struct Waits {
    std::uint32_t left = 0;
    Time ready;  ///< not before, for those that have ended
  };

  std::uint32_t start(std::uint32_t work, std::uint32_t step, std::uint32_t transfer) {
    const std::uint32_t number = transfers_.start(work);
    if (number >= running_.size()) { running_.resize(number + std::size_t{1}); }
    running_[number] = {step, transfer};
    return number;
  }

  void stream(std::uint32_t stream) { streams_[stream].number = start(first_stream_ + stream, stream, kStream); }

  Reading read_streams() const {
    Reading reading{{}, simulator_.now()};
    for (const Stream& each : streams_) {
      reading.done.push_back(static_cast<double>(each.transfers) * static_cast<double>(kOfStream.count()) +
                             transfers_.done(each.number));
    }
    return reading;
  }

  void begin(std::uint32_t step) {
    const ContestedStep& own = *steps_[step].given.step;
    began_[step] = simulator_.now();
    waits_[step].clear();
    for (const ContestedStep::Transfer& each : own.transfers) { waits_[step].push_back({each.waits_for, {}}); }
    waits_[step].push_back({own.end_waits_for, {}});
    release(step, own.first);
  }

  void release(std::uint32_t step, const std::vector<ContestedStep::Successor>& successors) {
    for (const ContestedStep::Successor& each : successors) {
      Waits& waits = waits_[step][each.transfer];
      waits.ready = std::max(waits.ready, simulator_.now() + each.lag);
      if (--waits.left > 0) { continue; }
      simulator_.at(waits.ready, self_, std::uint64_t{step} << 32U | each.transfer);
    }
  }

  void end(std::uint32_t step) {
    const bool were_enough = repetitions_.are_enough();
    const Time behind = steps_[step].given.behind;
    const bool again = repetitions_.done(step, simulator_.now() + behind);
    if (!streams_.empty() && from_.done.empty() && repetitions_.each_was_done()) { from_ = read_streams(); }
    if (!were_enough && repetitions_.are_enough()) { until_ = read_streams(); }
    if (!again) { return; }
    if (simulator_.now() + behind == began_[step]) {
      throw SimulationError("no-time", fmt::format("a step of job {} takes no time, and would be repeated for ever: "
                                                   "let it compute or send something",
                                                   step));
    }
    if (behind == Time::zero()) { return begin(step); }
    simulator_.at(simulator_.now() + behind, self_, std::uint64_t{step} << 32U | kBegin);
  }

  static std::vector<const RepeatedStep*> given(const StepsSideBySide& all) {
    std::vector<const RepeatedStep*> steps;
    for (const Step& each : all.steps_) { steps.push_back(&each.given); }
    return steps;
  }

  std::vector<double> shares_of_streams() const {
    std::vector<double> shares;
    const double span = static_cast<double>((until_.when - from_.when).count());
    for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
      shares.push_back((until_.done[stream] - from_.done[stream]) / span);
    }
    return shares;
  }

  const std::vector<Step>& steps_;
  std::vector<std::vector<Waits>> waits_;  ///< by step: by transfer, and of the end
  Repetitions repetitions_;
  std::vector<StepStory> stories_;        ///< by step
  std::vector<std::uint32_t> under_way_;  ///< by step: transfers
  std::vector<Time> began_;               ///< by step: the last repetition
  Simulator simulator_;
  ActorId self_;
  Transfers transfers_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> running_;  ///< step and transfer, by number of the transfer
  std::uint32_t first_stream_;
  std::vector<Stream> streams_;
  Reading from_;   ///< when each step had been done once
  Reading until_;  ///< when all had been done often enough
};

StepsSideBySide::StepsSideBySide(std::span<const RepeatedStep> steps, std::span<const std::vector<LinkShare>> streams)
    : shares_({}, {}) {
  Prices all = prices_of(steps);
  first_stream_ = count(all.works);
  for (const std::vector<LinkShare>& stream : streams) {
    all.works.push_back({kOfStream, {}});
    all.shares.push_back(stream);
    all.most.push_back(1);
    all.priorities.push_back(0);
  }
  for (std::size_t number = 0; number < steps.size(); ++number) {
    Step& own = steps_.emplace_back(Step{steps[number], {}});
    for (const auto& each : own.given.step->transfers) { own.works.push_back(all.numbers[number][each.estimate]); }
  }
  shares_ = CallShares(all.shares, all.most, all.priorities);
  works_ = std::move(all.works);
}

StepsSideBySide::Outcome StepsSideBySide::run(std::span<const Time> begins, std::uint32_t repetitions,
                                              const std::stop_token& stop) const {
  require(repetitions > 0, "a mean of no repetitions");
  require(begins.size() == steps_.size(), "{} beginnings of {} steps", begins.size(), steps_.size());
  return Run(*this, begins, repetitions + 1, stop).run();  // the first one is not of the mean
}

StepsSideBySide::Story StepsSideBySide::story(std::span<const Time> begins, std::uint32_t repetitions,
                                              const std::stop_token& stop) const {
  require(repetitions > 0, "a story of no repetitions");
  require(begins.size() == steps_.size(), "{} beginnings of {} steps", begins.size(), steps_.size());
  return Run(*this, begins, repetitions, stop).story();
}

std::vector<LinkDemand> link_demand(const WorkloadEstimates& estimates, const std::vector<std::uint32_t>& most) {
  std::map<std::uint32_t, double> demand;
  for (std::size_t i = 0; i < most.size(); ++i) {
    for (const LinkShare& part : estimates.estimates[i]->transfer_shares()) {
      demand[part.link] += part.share * most[i];
    }
  }
  std::vector<LinkDemand> all;
  for (const auto& [link, share] : demand) {
    if (share > 0) { all.push_back({link, share}); }
  }
  return all;
}

LinkGroups groups_by_links(std::span<const std::vector<LinkDemand>* const> demands) {
  struct OnLink {
    double share = 0;
    std::uint32_t users = 0;
    std::uint32_t first = 0;  ///< of them
  };
  std::vector<OnLink> links;
  for (std::uint32_t each = 0; each < demands.size(); ++each) {
    for (const LinkDemand& demand : *demands[each]) {
      if (demand.link >= links.size()) { links.resize(demand.link + std::size_t{1}); }
      OnLink& link = links[demand.link];
      link.share += demand.share;
      if (link.users++ == 0) { link.first = each; }
    }
  }
  const auto may_be_short = [](const OnLink& link) { return link.share > kFull && link.users > 1; };
  LinkGroups groups;
  for (std::uint32_t link = 0; link < links.size(); ++link) {
    if (may_be_short(links[link])) { groups.links.push_back(link); }
  }
  DisjointGroups together(demands.size());
  for (std::uint32_t each = 0; each < demands.size(); ++each) {
    for (const LinkDemand& demand : *demands[each]) {
      if (may_be_short(links[demand.link])) { together.join(each, links[demand.link].first); }
    }
  }
  std::map<std::uint32_t, std::uint32_t> numbers;
  for (std::uint32_t each = 0; each < demands.size(); ++each) {
    groups.of.push_back(numbers.try_emplace(together.of(each), count(numbers)).first->second);
  }
  return groups;
}

std::vector<bool> uses(const WorkloadEstimates& estimates, std::span<const std::uint32_t> links) {
  std::vector<bool> all;
  for (const CallEstimate* estimate : estimates.estimates) {
    all.push_back(std::any_of(estimate->shares->begin(), estimate->shares->end(), [&](const LinkShare& part) {
      return part.share > 0 && std::binary_search(links.begin(), links.end(), part.link);
    }));
  }
  return all;
}

std::vector<bool> with_contenders(const WorkloadEstimates& estimates, const std::vector<std::uint32_t>& most,
                                  std::vector<bool> contested) {
  std::map<std::uint32_t, double> demand;
  for (const LinkDemand& each : link_demand(estimates, most)) { demand[each.link] = each.share; }
  std::map<std::uint32_t, std::uint32_t> first;  // estimate of each link that may be short
  DisjointGroups together(contested.size());
  for (std::uint32_t each = 0; each < contested.size(); ++each) {
    for (const LinkShare& part : estimates.estimates[each]->transfer_shares()) {
      if (part.share <= 0 || demand[part.link] <= kFull) { continue; }
      together.join(each, first.try_emplace(part.link, each).first->second);
    }
  }
  std::vector<bool> groups(contested.size());
  for (std::uint32_t each = 0; each < contested.size(); ++each) {
    if (contested[each]) { groups[together.of(each)] = true; }
  }
  for (std::uint32_t each = 0; each < contested.size(); ++each) {
    contested[each] = groups[together.of(each)] || contested[each];
  }
  return contested;
}

}  // namespace athanor
