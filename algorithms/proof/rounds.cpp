#include "algorithms/proof/rounds.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <tuple>

#include "algorithms/proof/replay.hpp"
#include "algorithms/proof/round_clock.hpp"
#include "algorithms/proof/symbolic.hpp"
#include "algorithms/proof/wiring.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

/// What one element is made of.
struct Composition {
  std::optional<std::uint32_t> origin;
  std::optional<std::int64_t> element;
  std::uint32_t terms = 0;

  static Composition input(std::uint32_t rank, std::int64_t element) { return {rank, element, 1}; }
  static Composition rubbish(std::uint32_t, std::int64_t) { return {}; }
  void add(const Composition& other) {
    if (other.terms == 0) { return; }
    if (terms == 0) {
      *this = other;
      return;
    }
    if (origin != other.origin) { origin.reset(); }
    if (element != other.element) { element.reset(); }
    terms += other.terms;
  }
  void finish() {}
};

/// Does `next` continue what the run carries?
bool continues(const Carried& run, const Composition& next) {
  if (run.origin != next.origin || run.terms != next.terms || run.first.has_value() != next.element.has_value()) {
    return false;
  }
  return !run.first || (*run.first + run.count).count() == *next.element;
}

std::vector<Carried> runs_of(const std::vector<Composition>& values) {
  std::vector<Carried> runs;
  for (const Composition& value : values) {
    if (!runs.empty() && continues(runs.back(), value)) {
      runs.back().count += Elements{1};
      continue;
    }
    const auto first = value.element ? std::optional(Elements{*value.element}) : std::nullopt;
    runs.push_back({value.origin, first, Elements{1}, value.terms});
  }
  return runs;
}

class Tracing final : public Symbolic<Composition> {
 public:
  Tracing(const Schedule& schedule, const Wiring& wiring)
      : Symbolic(schedule, wiring), clock_(wiring), waiting_(wiring.receivers.size()) {
    part_.resize(wiring.lanes.size());
    std::iota(part_.begin(), part_.end(), 0U);
    for (std::size_t i = 0; i < wiring.senders.size(); ++i) { join(wiring.senders[i], wiring.receivers[i]); }
  }

  void on_primitive(const Execution& execution) override {
    Symbolic::on_primitive(execution);
    const std::uint32_t round = clock_.round_of(execution);
    take(execution);
    rounds_.rounds = std::max(rounds_.rounds, round);
    const bool empty = execution.primitive.count == Elements::zero();
    const auto carries = empty || execution.sent.empty() ? std::vector<Carried>{} : runs_of(value());
    for (const std::uint32_t connection : execution.sent) {
      waiting_[connection].push_back(rounds_.messages.size());
      rounds_.messages.push_back({round, agent(execution.lane), agent(wiring().receivers[connection]), execution.lane,
                                  execution.primitive.count, false, carries});
    }
  }

  Rounds result() {
    std::map<std::uint32_t, std::uint32_t> numbers;
    for (std::uint32_t lane = 0; lane < part_.size(); ++lane) {
      numbers.emplace(root(lane), static_cast<std::uint32_t>(numbers.size()));
    }
    rounds_.parts = static_cast<std::uint32_t>(numbers.size());
    for (RoundMessage& message : rounds_.messages) { message.part = numbers.at(root(message.part)); }
    std::stable_sort(rounds_.messages.begin(), rounds_.messages.end(), [](const auto& a, const auto& b) {
      return std::tie(a.round, a.from, a.to, a.part) < std::tie(b.round, b.from, b.to, b.part);
    });
    return std::move(rounds_);
  }

 private:
  AgentId agent(std::uint32_t lane) const { return wiring().lanes[lane].agent; }

  /// The messages of a primitive, and what it waits for.
  void take(const Execution& execution) {
    const Primitive& primitive = execution.primitive;
    if (primitive.wait && primitive.wait->ended > 0) {
      join(execution.lane, wiring().index(agent(execution.lane), primitive.wait->lane));
    }
    for (std::uint32_t i = 0; i < primitive.receives.count; ++i) {
      std::deque<std::size_t>& arrived = waiting_[execution.first_received + i];
      rounds_.messages[arrived.front()].added = primitive.inputs() > 1;
      arrived.pop_front();
    }
  }

  std::uint32_t root(std::uint32_t lane) {
    while (part_[lane] != lane) { lane = part_[lane] = part_[part_[lane]]; }
    return lane;
  }
  /// The first lane of a part is its root.
  void join(std::uint32_t a, std::uint32_t b) {
    const auto [low, high] = std::minmax({root(a), root(b)});
    part_[high] = low;
  }

  Rounds rounds_;
  RoundClock clock_;
  std::vector<std::deque<std::size_t>> waiting_;  ///< messages on each connection
  std::vector<std::uint32_t> part_;
};

}  // namespace

Rounds rounds_of(const Schedule& schedule) {
  Wiring wiring;
  require(!wire(schedule, wiring), "the schedule's ports do not meet");
  Tracing tracing(schedule, wiring);
  Replay replay(schedule, wiring, schedule.least_slots());  // rounds come from what is sent, not from slots
  replay.watch(tracing);
  require(!replay.run(), "the schedule does not end");
  return tracing.result();
}

}  // namespace athanor
