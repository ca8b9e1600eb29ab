#include "algorithms/formats/msccl_import.hpp"

#include <algorithm>
#include <queue>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "algorithms/formats/msccl_table.hpp"
#include "algorithms/proof/label.hpp"
#include "algorithms/proof/prove.hpp"
#include "algorithms/proof/replay.hpp"
#include "algorithms/proof/structure.hpp"
#include "algorithms/proof/symbolic.hpp"
#include "algorithms/proof/wiring.hpp"
#include "algorithms/schedule/contract.hpp"
#include "algorithms/schedule/layout.hpp"

namespace athanor {

namespace {

/// Counts rounds: a message leaves one round after all that its primitive waited for.
class Rounds : public Observer {
 public:
  explicit Rounds(const Wiring& wiring)
      : wiring_(wiring), ends_(wiring.lanes.size()), arrivals_(wiring.receivers.size()) {}

  std::uint32_t total() const { return total_; }

  void on_primitive(const Execution& execution) override {
    const WiredLane& lane = wiring_.lanes[execution.lane];
    std::vector<std::uint32_t>& ends = ends_[execution.lane];
    std::uint32_t time = ends.empty() ? 0 : ends.back();
    if (const auto& wait = execution.primitive.wait; wait && wait->ended > 0) {
      time = std::max(time, ends_[wiring_.index(lane.agent, wait->lane)][wait->ended - 1]);
    }
    for (std::uint32_t i = 0; i < execution.primitive.receives.count; ++i) {
      auto& arrived = arrivals_[execution.first_received + i];
      time = std::max(time, arrived.front());
      arrived.pop();
    }
    if (!execution.sent.empty()) { ++time; }
    for (const std::uint32_t sent : execution.sent) { arrivals_[sent].push(time); }
    ends.push_back(time);
    total_ = std::max(total_, time);
  }

 private:
  const Wiring& wiring_;
  std::vector<std::vector<std::uint32_t>> ends_;     ///< of each primitive of each lane
  std::vector<std::queue<std::uint32_t>> arrivals_;  ///< of each connection
  std::uint32_t total_ = 0;
};

/// Notes which primitives make a sum over all ranks out of parts of it.
class Completions : public Symbolic<Label> {
 public:
  enum class Kind : std::uint8_t { none, some, all };

  Completions(const Schedule& schedule, const Wiring& wiring, Elements count)
      : Symbolic(schedule, wiring), kinds_(wiring.lanes.size()) {
    for (std::int64_t element = 0; element < count.count(); ++element) {
      Label sum;
      for (std::uint32_t rank = 0; rank < schedule.agent_count().ranks; ++rank) {
        sum.add(Label::input(rank, element));
      }
      complete_.push_back(sum.sum);
    }
    std::sort(complete_.begin(), complete_.end());
  }

  /// Of the primitives of a lane, in their order.
  const std::vector<Kind>& kinds(std::uint32_t lane) const { return kinds_[lane]; }

  void on_primitive(const Execution& execution) override {
    Symbolic::on_primitive(execution);
    kinds_[execution.lane].push_back(execution.primitive.inputs() > 1 ? kind() : Kind::none);
  }

 private:
  Kind kind() const {
    const auto completed = std::count_if(value().begin(), value().end(), [&](const Label& label) {
      return std::binary_search(complete_.begin(), complete_.end(), label.sum);
    });
    if (completed == 0) { return Kind::none; }
    return static_cast<std::size_t>(completed) == value().size() ? Kind::all : Kind::some;
  }

  std::vector<std::uint64_t> complete_;  ///< sorted
  std::vector<std::vector<Kind>> kinds_;
};

/// Proves one way of using a document: in place or not.
class Prover {
 public:
  Prover(const MscclDocument& document, bool in_place)
      : document_(document),
        collective_{document.kind, static_cast<std::uint32_t>(document.gpus.size()), Elements{document.chunks},
                    document.root, in_place},
        table_(std::make_shared<Table>(table_of(document, in_place))) {}

  std::shared_ptr<const Table> prove() {
    const TableSchedule schedule = unit();
    Wiring wiring;
    refuse(check_memory(schedule, collective_));
    refuse(wire(schedule, wiring));
    refuse(check_primitives(schedule, wiring));
    table_->least_slots = least_slots(schedule, wiring);
    if (Contract(collective_).finished()) { finish(schedule, wiring); }
    number_programs(*table_);
    refuse(athanor::prove(schedule, collective_, {.equal_counts = true}));
    return table_;
  }

 private:
  /// One element per chunk.
  TableSchedule unit() const { return {table_, Elements{1}, Elements{1}}; }

  void refuse(const std::optional<Violation>& violation) const {
    if (!violation) { return; }
    const auto& [agent, lane, loop, step] = violation->place;
    const MscclGpu& gpu = document_.gpus[agent.value];
    SourceLocation place = gpu.place;
    if (lane) { place = step ? gpu.blocks[lane->value].steps[*step].place : gpu.blocks[lane->value].place; }
    const std::string hint = lane ? "a rank is a gpu, and a lane its thread block" : "a rank is a gpu";
    throw ScenarioError(
        Problem{"wrong-algorithm",
                fmt::format("\"{}\" is not {}{}: {}", document_.name, name(document_.kind),
                            collective_.in_place ? " in place" : "", explain({ranks(), ranks()}, *violation)),
                place, hint});
  }

  std::uint32_t ranks() const { return collective_.ranks; }

  bool ends_with(const TableSchedule& schedule, const Wiring& wiring, std::uint32_t slots) const {
    const std::optional<Violation> violation = Replay(schedule, wiring, slots).run();
    if (violation && violation->kind != ViolationKind::deadlock) { refuse(violation); }
    return !violation;
  }

  /// More slots never hurt, so the least number that does not deadlock is found by bisection.
  std::uint32_t least_slots(const TableSchedule& schedule, const Wiring& wiring) const {
    std::uint32_t most = 1;
    for (const TableLane& lane : table_->lanes) { most = std::max(most, lane.steps); }
    std::uint32_t enough = 1;
    while (enough < most && !ends_with(schedule, wiring, enough)) { enough *= 2; }
    if (enough >= most) { refuse(Replay(schedule, wiring, enough).run()); }
    std::uint32_t few = enough / 2;
    while (enough - few > 1) {
      const std::uint32_t middle = few + (enough - few) / 2;
      (ends_with(schedule, wiring, middle) ? enough : few) = middle;
    }
    return enough;
  }

  void finish(const TableSchedule& schedule, const Wiring& wiring) {
    Completions completions(schedule, wiring, collective_.count);
    Replay replay(schedule, wiring, table_->least_slots);
    replay.watch(completions);
    refuse(replay.run());
    for (std::uint32_t lane = 0; lane < table_->lanes.size(); ++lane) {
      const std::vector<Completions::Kind>& kinds = completions.kinds(lane);
      for (std::uint32_t step = 0; step < kinds.size(); ++step) {
        if (kinds[step] == Completions::Kind::some) { refuse_half_complete(wiring.lanes[lane], step); }
        table_->steps[table_->lanes[lane].first_step + step].finish = kinds[step] == Completions::Kind::all;
      }
    }
  }

  [[noreturn]] void refuse_half_complete(const WiredLane& lane, std::uint32_t step) const {
    throw ScenarioError(Problem{"half-complete",
                                "<step>: completes the reduction of some of its chunks, but not of the others",
                                document_.gpus[lane.agent.value].blocks[lane.lane.value].steps[step].place,
                                "write two steps, so that an average is known to be divided in one of them"});
  }

  const MscclDocument& document_;
  Collective collective_;
  std::shared_ptr<Table> table_;
};

std::uint32_t count_rounds(const std::shared_ptr<const Table>& table) {
  const TableSchedule schedule(table, Elements{1}, Elements{1});
  Wiring wiring;
  wire(schedule, wiring);
  Rounds rounds(wiring);
  Replay replay(schedule, wiring, table->least_slots);
  replay.watch(rounds);
  replay.run();
  return rounds.total();
}

/// What a rank sends and adds, over all its lanes.
struct Work {
  Elements sent;
  Elements reduced;
};

Work work_of(const Schedule& schedule, AgentId rank) {
  Work work;
  for (LaneId lane{0}; lane.value < schedule.lanes(rank); ++lane.value) {
    const Lane shape = schedule.lane(rank, lane);
    for (std::uint32_t step = 0; step < shape.steps; ++step) {
      const Primitive primitive = schedule.at(rank, lane, 0, step);
      work.sent += primitive.count * primitive.sends.count;
      if (primitive.inputs() > 1) { work.reduced += primitive.count * (primitive.inputs() - 1); }
    }
  }
  return work;
}

Cost cost_of(const ImportedAlgorithm& imported, const Collective& collective) {
  const auto schedule = imported.make(collective, Elements::max());
  Cost cost{imported.steps(), Elements::zero(), Elements::zero()};
  for (AgentId rank{0}; rank.value < collective.ranks; ++rank.value) {
    const Work work = work_of(*schedule, rank);
    cost.sent = std::max(cost.sent, work.sent);
    cost.reduced = std::max(cost.reduced, work.reduced);
  }
  return cost;
}

}  // namespace

ImportedAlgorithm::ImportedAlgorithm(MscclDocument document, std::shared_ptr<const Table> out_of_place,
                                     std::shared_ptr<const Table> in_place)
    : document_(std::move(document)),
      out_of_place_(std::move(out_of_place)),
      in_place_(std::move(in_place)),
      steps_(count_rounds(out_of_place_ ? out_of_place_ : in_place_)) {}

std::optional<std::string> ImportedAlgorithm::refuses(const Collective& collective) const {
  if (collective.kind != document_.kind) {
    return fmt::format("it does {}, not {}", name(document_.kind), name(collective.kind));
  }
  if (collective.ranks != ranks()) { return fmt::format("it is for {} ranks, not {}", ranks(), collective.ranks); }
  const bool has_root = document_.kind == CollectiveKind::broadcast || document_.kind == CollectiveKind::reduce;
  if (has_root && collective.root != document_.root) {
    return fmt::format("its root is {}, not {}", document_.root, collective.root);
  }
  if (collective.count < Elements::zero() || collective.count % granule() != Elements::zero()) {
    return fmt::format("{} elements cannot be cut into its {} equal chunks", collective.count.count(),
                       document_.chunks);
  }
  return std::nullopt;
}

std::unique_ptr<const Schedule> ImportedAlgorithm::make(const Collective& collective, Elements piece) const {
  const bool in_place = in_place_ && (collective.in_place || !out_of_place_);
  return std::make_unique<TableSchedule>(in_place ? in_place_ : out_of_place_, collective.count / document_.chunks,
                                         piece);
}

ImportedAlgorithm import_msccl(std::string_view text, const std::string& file) {
  MscclDocument document = parse_msccl(text, file);
  const auto out_of_place = document.out_of_place ? Prover(document, false).prove() : nullptr;
  const auto in_place = document.in_place ? Prover(document, true).prove() : nullptr;
  return {std::move(document), out_of_place, in_place};
}

Algorithm as_algorithm(const std::shared_ptr<const ImportedAlgorithm>& imported) {
  const MscclDocument& document = imported->document();
  return {
      .name = document.name,
      .kind = document.kind,
      .summary = fmt::format("imported from {}", document.place.file),
      .formula = fmt::format("{} steps", imported->steps()),
      .source = document.place.file,
      .explanation = "",
      .ranks = fmt::format("{}", imported->ranks()),
      .fabrics = "",
      .origin = AlgorithmOrigin{document.place.file, document.protocol, document.channels},
      .make_for_many = [imported](
                           const Collective& collective,
                           const Layout& layout) { return imported->make(collective, slices_as_chunks(layout).chunk); },
      .granule_for_many = [imported](const Collective&, const Layout&) { return imported->granule(); },
      .cost_for_many = [imported](const Collective& collective) { return cost_of(*imported, collective); },
      .refuses_many = [imported](const Collective& collective, const Layout&) { return imported->refuses(collective); },
  };
}

}  // namespace athanor
