#include "models/execution/lock_step_run.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "models/execution/primitive_costs.hpp"
#include "models/execution/recurrence.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

constexpr std::uint64_t kMostTimes = 1U << 26U;  // that are remembered, of all lanes
constexpr std::uint32_t kLookEvery = 32;         // steps, so that looking costs little beside them
constexpr std::int64_t kNever = INT64_MIN / 2;
constexpr Time kLongest = Time::max() / 4;  // up to which sums of times need no check

/// Of the first lane.
const AgentCost& cost_of_first(const MappedSchedule& mapped) {
  static const AgentCost kNone;
  return mapped.lanes.empty() ? kNone : mapped.agent_costs[mapped.lanes[LaneIndex{0}].cost];
}

/// Times are in ps, those of all lanes in one array, so that a step is one pass over a few arrays.
class LockStepRun {
 public:
  LockStepRun(const MappedSchedule& mapped, const Schedule& schedule, Bytes element_size, std::uint32_t slots)
      : mapped_(mapped),
        schedule_(schedule),
        element_size_(cost_of_first(mapped).element_size.value_or(element_size)),
        slots_(cost_of_first(mapped).slots.value_or(slots)),
        lanes_(mapped.lanes.size()),
        look_every_(static_cast<std::uint32_t>(slots_ * std::max<std::uint64_t>(1, kLookEvery / slots_))) {}

  bool fits() const {
    if (lanes_ == 0 || lanes_ * slots_ > kMostTimes) { return false; }
    const MappedSchedule::Lane& first = mapped_.lanes[LaneIndex{0}];
    const ProgramId program = schedule_.lane(first.agent, first.lane).program;
    return std::all_of(mapped_.lanes.begin(), mapped_.lanes.end(), [&](const MappedSchedule::Lane& lane) {
      const AgentCost& cost = mapped_.agent_costs[lane.cost];
      return lane.in_ports == 1 && lane.out_ports == 1 && lane.steps == first.steps && lane.loops == first.loops &&
             cost.element_size.value_or(element_size_) == element_size_ && cost.slots.value_or(slots_) == slots_ &&
             schedule_.lane(lane.agent, lane.lane).program == program;
    });
  }

  /// Nothing: a step hangs on what others do in it, or takes too long.
  std::optional<UnsharedOutcome> run(const std::stop_token& stop) {
    join();
    const MappedSchedule::Lane& first = mapped_.lanes[LaneIndex{0}];
    for (std::uint64_t loop = 0; loop < first.loops; ++loop) {
      alike_ = {};
      for (std::uint32_t step = 0; step < first.steps; ++step) {
        const PrimitiveUse use = use_of(schedule_.at(first.agent, first.lane, loop, step), first, element_size_);
        if (!may_take(use)) { return {}; }
        if (!priced_ || !(use == *priced_)) { price(use); }
        if (passed_ > kLongest || longest_ > kLongest) { return {}; }
        passed_ += longest_;
        take(use);
        if (stop.stop_requested()) { throw Interrupted(); }
        if (is_time_to_look(step)) { step += skip_repeated(loop, step); }
      }
    }
    return outcome(first.loops * first.steps);
  }

 private:
  /// What a lane of some kind takes for a step, waiting aside.
  struct Prices {
    std::int64_t overhead = 0;
    std::int64_t work = 0;    ///< before it sends
    std::int64_t beside = 0;  ///< since then, while it sends
    std::int64_t injection = 0;
    std::int64_t latency = 0;
    std::int64_t paced = 0;            ///< since it sends, until its send ends by itself
    std::int64_t after_injection = 0;  ///< since the message has left, until its send ends; or kNever
    Bytes on_the_wire;
  };
  /// Lanes that cost the same on connections that cost the same.
  struct Kind {
    std::uint32_t agent_cost = 0;
    ConnectionId connection;  ///< of one of them
    FineRate rate = 0;
    Prices prices;
    Bytes carried;
  };
  /// After a step. Times are since the first lane ended it.
  struct State {
    std::uint32_t step = 0;
    std::int64_t when = 0;
    std::vector<std::int64_t> times;  ///< all that are remembered
    std::uint64_t sent = 0;
    std::uint64_t used = 0;
    std::vector<Bytes> carried;  ///< by kind
    Time passed;
  };

  void join() {
    for (const MappedSchedule::Lane& lane : mapped_.lanes) {
      const Time begin = mapped_.starts[lane.start].begin;
      end_.push_back(begin.count());
      passed_ = std::max(passed_, begin);
    }
    free_.assign(lanes_, 0);
    arrivals_.assign(lanes_ * slots_, 0);
    uses_ended_.assign(lanes_ * slots_, 0);
    std::map<std::tuple<std::uint32_t, std::uint32_t, Time, Bandwidth, FineRate>, std::uint32_t> known;
    for (const MappedSchedule::Lane& lane : mapped_.lanes) {
      before_.push_back(mapped_.connections[mapped_.in_connections[lane.first_in]].source_lane.value);
      behind_.push_back(mapped_.connections[lane.first_out].target_lane.value);
      const FlowGraph::Connection& pair = mapped_.network.pairs_of(lane.first_out).front();
      const FineRate rate = rate_alone(mapped_.network, pair);
      const std::tuple key(lane.cost, mapped_.connections[lane.first_out].cost, pair.latency, pair.cap, rate);
      kind_.push_back(known.try_emplace(key, kinds_.size()).first->second);
      if (kind_.back() == kinds_.size()) { kinds_.push_back({lane.cost, lane.first_out, rate, {}, {}}); }
    }
  }

  /// Messages and slots must be those of earlier steps.
  bool may_take(const PrimitiveUse& use) const {
    const bool has_message = use.receives.count == 0 || used_ < sent_;
    const bool has_slot = use.sends.count == 0 || sent_ - used_ < slots_;
    return !use.waits && has_message && has_slot;
  }

  void price(const PrimitiveUse& use) {
    priced_ = use;
    longest_ = Time::zero();
    for (Kind& kind : kinds_) {
      const Prices& prices = kind.prices = prices_of(use, kind);
      for (const std::int64_t part :
           {prices.overhead, prices.work, prices.beside, prices.injection, prices.latency, prices.paced}) {
        longest_ += Time{part};
      }
    }
  }

  Prices prices_of(const PrimitiveUse& use, const Kind& kind) const {
    const AgentCost& cost = mapped_.agent_costs[kind.agent_cost];
    const ConnectionCost& message = mapped_.connection_costs[mapped_.connections[kind.connection].cost];
    const FlowGraph::Connection& pair = mapped_.network.pairs_of(kind.connection).front();
    const bool has_port = use.receives.count + use.sends.count > 0;
    const bool overlapped = cost.overlapped && use.sends.count > 0;
    Prices prices;
    prices.overhead = has_port ? cost.overhead.count() : 0;
    (overlapped ? prices.beside : prices.work) = local_work(use, cost).count();
    prices.on_the_wire = wire_bytes(use.bytes, message);
    prices.injection = injection_alone(prices.on_the_wire, kind.rate, pair.cap).count();
    prices.latency = pair.latency.count();
    prices.after_injection = kNever;
    if (message.end == SendEnd::paced) { prices.paced = injection_time(use.bytes, message.injection_rate).count(); }
    if (message.end == SendEnd::injected) { prices.after_injection = 0; }
    if (message.end == SendEnd::delivered) { prices.after_injection = prices.latency; }
    return prices;
  }

  void take(const PrimitiveUse& use) {
    const bool receives = use.receives.count > 0;
    const bool sends = use.sends.count > 0;
    if (receives && sends) {
      pass<true, true>();
    } else if (receives) {
      pass<true, false>();
    } else if (sends) {
      pass<false, true>();
    } else {
      pass<false, false>();
    }
    used_ += receives ? 1 : 0;
    sent_ += sends ? 1 : 0;
    for (Kind& kind : kinds_) { kind.carried += sends ? kind.prices.on_the_wire : Bytes::zero(); }
  }

  /// What is read of others is of other slots than what is written.
  template <bool kReceives, bool kSends>
  void pass() {
    const std::int64_t* arrived = arrivals_.data() + used_ % slots_ * lanes_;
    const std::int64_t* freed = uses_ended_.data() + sent_ % slots_ * lanes_;
    std::int64_t* ended = uses_ended_.data() + used_ % slots_ * lanes_;
    std::int64_t* arrives = arrivals_.data() + sent_ % slots_ * lanes_;
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      const Prices& prices = kinds_[kind_[lane]].prices;
      std::int64_t now = end_[lane];
      if constexpr (kReceives) { now = std::max(now, arrived[before_[lane]]); }
      if constexpr (kSends) { now = std::max(now, freed[behind_[lane]]); }
      now += prices.overhead + prices.work;
      std::int64_t end = now + prices.beside;
      if constexpr (kSends) {
        free_[lane] = std::max(free_[lane], now) + prices.injection;
        arrives[lane] = free_[lane] + prices.latency;
        end = std::max({end, now + prices.paced, free_[lane] + prices.after_injection});
      }
      if constexpr (kReceives) { ended[lane] = end; }
      end_[lane] = end;
    }
  }

  /// Between looks messages have come round to the same slots, so that states need not be turned.
  bool is_time_to_look(std::uint32_t step) const { return step % look_every_ == 0; }

  /// Of a step that has been taken: how many after it are left out, because they do what as many before them did.
  std::uint32_t skip_repeated(std::uint64_t loop, std::uint32_t step) {
    if (step >= alike_.end) {
      const MappedSchedule::Lane& first = mapped_.lanes[LaneIndex{0}];
      alike_ = schedule_.alike(first.agent, first.lane, loop, step);
      recurrence_.forget();
      due_ = 0;
    }
    if (alike_.end - step < look_every_) { return 0; }
    const auto distance = recurrence_.look(present_times());
    const std::uint32_t skipped = recurrence_.looks() == due_ ? skip_since(anchor_, state(step)) : 0;
    if (skipped == 0 && distance && recurrence_.looks() >= due_) {
      anchor_ = state(step);
      due_ = recurrence_.looks() + *distance;
    }
    return skipped;
  }

  /// What tells states apart at little cost: when lanes and their connections are free.
  const std::vector<std::int64_t>& present_times() {
    looked_at_.clear();
    for (const std::int64_t each : end_) { looked_at_.push_back(each - end_.front()); }
    for (const std::int64_t each : free_) { looked_at_.push_back(each - end_.front()); }
    return looked_at_;
  }

  State state(std::uint32_t step) const {
    State state{step, end_.front(), {}, sent_, used_, {}, passed_};
    for (const std::vector<std::int64_t>* times : {&end_, &free_, &arrivals_, &uses_ended_}) {
      for (const std::int64_t each : *times) { state.times.push_back(each - end_.front()); }
    }
    for (const Kind& kind : kinds_) { state.carried.push_back(kind.carried); }
    return state;
  }

  /// Equal states have equal futures, as long as steps are like those of the period. 0: they are not equal, or there
  /// are no such steps.
  std::uint32_t skip_since(const State& before, const State& now) {
    const std::uint32_t period = now.step - before.step;
    const bool same = before.times == now.times && before.sent - before.used == now.sent - now.used;
    if (!same || before.step < alike_.first || period % alike_.period != 0) { return 0; }
    const std::uint32_t times = (alike_.end - 1 - now.step) / period;
    const double passed = static_cast<double>((now.passed - before.passed).count()) * times;
    if (times == 0 || passed > static_cast<double>((kLongest - now.passed).count())) { return 0; }
    passed_ += (now.passed - before.passed) * times;
    for (std::vector<std::int64_t>* each : {&end_, &free_, &arrivals_, &uses_ended_}) {
      for (std::int64_t& time : *each) { time += (now.when - before.when) * times; }
    }
    sent_ += (now.sent - before.sent) * times;
    used_ += (now.used - before.used) * times;
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      kinds_[k].carried += (now.carried[k] - before.carried[k]) * times;
    }
    skipped_ += std::uint64_t{period} * times;
    return period * times;
  }

  UnsharedOutcome outcome(std::uint64_t primitives) const {
    UnsharedOutcome outcome;
    outcome.primitives = (primitives - skipped_) * lanes_;
    outcome.skipped_steps = skipped_;
    IdVector<ConnectionId, Bytes> carried(mapped_.connections.size());
    for (const LaneIndex lane : mapped_.lanes.ids()) {
      outcome.ends.push_back(Time{end_[lane.value]});
      outcome.finish = std::max(outcome.finish, outcome.ends.back());
      carried[mapped_.lanes[lane].first_out] = kinds_[kind_[lane.value]].carried;
    }
    outcome.carried = carried_by_links(mapped_.network.graph, carried);
    return outcome;
  }

  const MappedSchedule& mapped_;
  const Schedule& schedule_;
  Bytes element_size_;
  std::uint64_t slots_;
  std::size_t lanes_;
  std::vector<std::int64_t> end_;         ///< by lane: of its last primitive
  std::vector<std::int64_t> free_;        ///< by lane: when its last message had left
  std::vector<std::int64_t> arrivals_;    ///< by slot and lane that sent: of the message in it
  std::vector<std::int64_t> uses_ended_;  ///< by slot and lane that received: of the last message in it
  std::vector<std::uint32_t> before_;     ///< by lane: that from which it receives
  std::vector<std::uint32_t> behind_;     ///< by lane: that to which it sends
  std::vector<std::uint32_t> kind_;       ///< by lane
  std::vector<Kind> kinds_;
  std::optional<PrimitiveUse> priced_;
  Time longest_;            ///< of a step, at most, waiting aside
  Time passed_;             ///< until now, at most
  std::uint64_t sent_ = 0;  ///< messages, by each lane
  std::uint64_t used_ = 0;
  std::uint32_t look_every_;  ///< steps
  StepRange alike_;           ///< the steps around the last one that was looked at
  Recurrence recurrence_;
  std::uint64_t due_ = 0;  ///< the look at which `anchor_` may come back
  State anchor_;
  std::vector<std::int64_t> looked_at_;
  std::uint64_t skipped_ = 0;  ///< steps
};

}  // namespace

std::optional<UnsharedOutcome> run_in_lock_step(const MappedSchedule& mapped, const Schedule& schedule,
                                                Bytes element_size, std::uint32_t slots, const std::stop_token& stop) {
  LockStepRun run(mapped, schedule, element_size, slots);
  return run.fits() ? run.run(stop) : std::nullopt;
}

}  // namespace athanor
