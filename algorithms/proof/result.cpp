#include "algorithms/proof/result.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "sim/check.hpp"

namespace athanor {

namespace {

/// Where a part of a value comes from. An owner's cell that was never filled counts as its own origin.
struct Origin {
  std::uint32_t owner = 0;
  std::int64_t element = 0;
  bool rubbish = false;
  auto operator<=>(const Origin&) const = default;
};

struct Amount {
  std::uint32_t times = 0;
  std::uint32_t finished = 0;  ///< greatest number of times that one of them was finished
};

/// A multiset of contributions, ascending.
struct Contributions {
  std::vector<std::pair<Origin, Amount>> parts;

  static Contributions input(std::uint32_t rank, std::int64_t element) { return {{{{rank, element, false}, {1, 0}}}}; }
  static Contributions rubbish(std::uint32_t agent, std::int64_t at) { return {{{{agent, at, true}, {1, 0}}}}; }

  void add(const Contributions& other) {
    std::vector<std::pair<Origin, Amount>> sum;
    auto mine = parts.begin();
    for (const auto& [origin, amount] : other.parts) {
      for (; mine != parts.end() && mine->first < origin; ++mine) { sum.push_back(*mine); }
      sum.emplace_back(origin, amount);
      if (mine != parts.end() && mine->first == origin) {
        sum.back().second.times += mine->second.times;
        sum.back().second.finished = std::max(amount.finished, mine->second.finished);
        ++mine;
      }
    }
    sum.insert(sum.end(), mine, parts.end());
    parts = std::move(sum);
  }
  void finish() {
    for (auto& part : parts) { ++part.second.finished; }
  }
  std::optional<Amount> find(const Origin& origin) const {
    const auto found = std::lower_bound(parts.begin(), parts.end(), origin,
                                        [](const auto& part, const Origin& key) { return part.first < key; });
    return found != parts.end() && found->first == origin ? std::optional(found->second) : std::nullopt;
  }
};

/// The multiset that a broken promise should have given.
std::vector<Origin> expected(const WrongElement& wrong, std::uint32_t ranks) {
  const std::int64_t element = wrong.from().count();
  if (wrong.promise.origin) { return {{*wrong.promise.origin, element, false}}; }
  std::vector<Origin> origins;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) { origins.push_back({rank, element, false}); }
  return origins;
}

/// Also notes who wrote the wrong element last, and where its contributions were seen last, doubled first, and all
/// together first.
class Trace : public Symbolic<Contributions> {
 public:
  Trace(const Schedule& schedule, const Wiring& wiring, const WrongElement& wrong, std::vector<Origin> expected)
      : Symbolic(schedule, wiring), wrong_(wrong), expected_(std::move(expected)) {}

  void on_primitive(const Execution& execution) override {
    Symbolic::on_primitive(execution);
    const Primitive& primitive = execution.primitive;
    if (primitive.count == Elements::zero()) { return; }
    const StepPlace place = wiring().lanes[execution.lane].place(execution.index);
    for (const Contributions& value : value()) { look(value, place); }
    if (primitive.store && place.agent == wrong_.rank) { note_writer(*primitive.store, primitive.count, place); }
  }

  std::optional<StepPlace> writer;          ///< of the wrong element
  std::map<Origin, StepPlace> last;         ///< latest primitive with this contribution in its value
  std::optional<StepPlace> doubled;         ///< first primitive with an expected contribution more than once
  std::optional<StepPlace> complete;        ///< first primitive with exactly the expected contributions
  std::optional<StepPlace> finished_twice;  ///< first primitive with an expected contribution finished twice

 private:
  void look(const Contributions& value, const StepPlace& place) {
    std::size_t found = 0;
    for (const Origin& origin : expected_) {
      const auto amount = value.find(origin);
      if (!amount) { continue; }
      ++found;
      last[origin] = place;
      if (amount->times > 1 && !doubled) { doubled = place; }
      if (amount->finished > 1 && !finished_twice) { finished_twice = place; }
    }
    if (found == expected_.size() && value.parts.size() == found && !complete) { complete = place; }
  }

  void note_writer(const Cells& store, Elements count, const StepPlace& place) {
    const std::int64_t address = map(wrong_.rank).base(Buffer::output) + wrong_.element.count();
    map(wrong_.rank).each_run(store, count, [&](std::int64_t first, std::int64_t length) {
      if (address >= first && address < first + length) { writer = place; }
    });
  }

  const WrongElement& wrong_;
  std::vector<Origin> expected_;
};

std::string text(const AgentCount& agent_count, const Origin& origin) {
  const std::string owner = describe(agent_count, AgentId{origin.owner});
  return origin.rubbish ? fmt::format("a cell of {} that was never filled", owner)
                        : fmt::format("element {} of {}", origin.element, owner);
}

class Explanation {
 public:
  Explanation(const Trace& trace, const AgentCount& agent_count, const WrongElement& wrong)
      : trace_(trace), agent_count_(agent_count), wrong_(wrong), found_(trace.output(wrong.rank, wrong.element)) {}

  /// Foreign parts first: what is missing is usually in their place.
  Violation violation(const std::vector<Origin>& expected, bool finished) const {
    if (!trace_.writer) { return at(std::nullopt, "is never stored"); }
    for (const Origin& origin : expected) {
      if (const auto amount = found_.find(origin); amount && amount->times > 1) {
        return at(trace_.doubled, fmt::format("holds {} {} times", text(agent_count_, origin), amount->times));
      }
    }
    for (const Origin& origin : expected) {
      if (!found_.find(origin)) { return missing(origin); }
    }
    for (const auto& [origin, amount] : found_.parts) {
      if (!std::binary_search(expected.begin(), expected.end(), origin)) {
        return at(trace_.writer, fmt::format("holds {}, which does not belong to it", text(agent_count_, origin)));
      }
    }
    return unfinished(finished);
  }

 private:
  Violation at(const std::optional<StepPlace>& place, const std::string& what) const {
    return {
        ViolationKind::result, place.value_or(StepPlace{wrong_.rank, {}, {}, {}}),
        fmt::format("output element {} of {} {}", wrong_.element.count(), describe(agent_count_, wrong_.rank), what)};
  }

  Violation missing(const Origin& origin) const {
    std::string what = fmt::format("lacks {}", text(agent_count_, origin));
    for (const auto& [other, amount] : found_.parts) {
      if (found_.parts.size() == 1) { what += fmt::format(" and holds {}", text(agent_count_, other)); }
    }
    const auto last = trace_.last.find(origin);
    if (last == trace_.last.end()) { return at(trace_.writer, what + ", which no primitive reads"); }
    return at(trace_.writer, what + fmt::format(", last seen at {}", describe(agent_count_, last->second)));
  }

  Violation unfinished(bool finished) const {
    const std::uint32_t right = finished ? 1 : 0;
    const auto part = std::find_if(found_.parts.begin(), found_.parts.end(),
                                   [&](const auto& p) { return p.second.finished != right; });
    require(part != found_.parts.end(), "labels and multisets disagree on output element {}", wrong_.element.count());
    const std::uint32_t times = part->second.finished;
    const auto place = times > 1 ? trace_.finished_twice : times == 0 ? trace_.complete : trace_.writer;
    return at(place, fmt::format("is finished {} times instead of {}", times, right));
  }

  const Trace& trace_;
  const AgentCount& agent_count_;
  const WrongElement& wrong_;
  const Contributions& found_;
};

}  // namespace

std::optional<WrongElement> first_wrong(const Collective& collective, const Symbolic<Label>& end) {
  const Contract contract(collective);
  std::vector<Label> reduced(contract.finished() ? static_cast<std::size_t>(collective.count.count()) : 0);
  for (std::size_t element = 0; element < reduced.size(); ++element) {
    for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
      reduced[element].add(Label::input(rank, static_cast<std::int64_t>(element)));
    }
    reduced[element].finish();
  }
  for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
    for (const Promise& promise : contract.promised(rank)) {
      for (std::int64_t k = 0; k < promise.count.count(); ++k) {
        const std::int64_t from = promise.from.count() + k;
        const Label right =
            promise.origin ? Label::input(*promise.origin, from) : reduced[static_cast<std::size_t>(from)];
        const Elements element = promise.first + Elements{k};
        if (!(end.output(AgentId{rank}, element) == right)) { return WrongElement{AgentId{rank}, element, promise}; }
      }
    }
  }
  return std::nullopt;
}

Violation explain_result(const Schedule& schedule, const Collective& collective, const Wiring& wiring,
                         std::uint32_t slots, const WrongElement& wrong) {
  const std::vector<Origin> origins = expected(wrong, collective.ranks);
  Trace trace(schedule, wiring, wrong, origins);
  Replay replay(schedule, wiring, slots);
  replay.watch(trace);
  require(!replay.run().has_value(), "a replay that has ended before does not end");
  return Explanation(trace, schedule.agent_count(), wrong).violation(origins, Contract(collective).finished());
}

}  // namespace athanor
