#include <cmath>
#include <map>
#include <utility>

#include "models/jobs/placement/entry.hpp"
#include "models/jobs/placement/fragmentation.hpp"
#include "models/jobs/placement/scored_placement.hpp"
#include "sim/config/fields.hpp"
#include "sim/random.hpp"
#include "sim/ratio.hpp"

namespace athanor {

namespace {

constexpr double kSlope = 1000;  ///< thousandths of a GPU that count as 1 in the sigmoid

class FgdPolicy final : public ScoredPlacement {
 public:
  FgdPolicy(const NodeList& nodes, const JobList& jobs, const ScoredSettings& settings, double typical_share,
            std::uint64_t seed)
      : ScoredPlacement(nodes, settings, seed), nodes_(nodes), typical_(typical_tasks(jobs, typical_share)) {}

 private:
  /// The best that a task can do on a node in a state.
  struct Known {
    std::uint64_t state = 0;  ///< a hash of what is free; 0: nothing known
    std::uint16_t gpu = 0;    ///< that it shares
    std::uint16_t score = 0;
  };

  void score(const Demand& demand, const Inventory& inventory, std::span<ScoredNode> nodes) override {
    std::vector<Known>& known = known_of(demand);
    for (ScoredNode& each : nodes) { each.score = look_up(each.node, demand, inventory, known).score; }
  }

  std::uint32_t shared_gpu(NodeId node, const Demand& demand, const Inventory& inventory) override {
    return look_up(node, demand, inventory, known_of(demand)).gpu;
  }

  std::vector<Known>& known_of(Demand demand) {
    demand.memory_mib = 0;
    demand.nics = 0;
    std::vector<Known>& known = known_[demand];
    known.resize(nodes_.count());
    return known;
  }

  const Known& look_up(NodeId node, const Demand& demand, const Inventory& inventory, std::vector<Known>& all) {
    const FreeOnNode free = free_on(node, inventory);
    std::uint64_t state = mix64(free.cpu_milli);
    for (std::uint32_t gpu = 0; gpu < free.gpus; ++gpu) { state = mix64(state ^ free.milli[gpu]); }
    Known& known = all[node.value];
    if (known.state != state) { known = best_of(free, demand, fits_of(node, inventory), state); }
    return known;
  }

  Known best_of(const FreeOnNode& free, const Demand& demand, const std::vector<bool>& fits, std::uint64_t state) {
    const double before = fragmentation(free, typical_, fits);
    FreeOnNode after = free;
    if (after.cpu_milli != Node::kUnlimited) { after.cpu_milli -= demand.cpu_milli; }
    if (demand.gpu_milli == 0) {
      std::uint32_t left = demand.gpus;
      for (std::uint32_t gpu = 0; gpu < free.gpus && left > 0; ++gpu) {
        if (free.milli[gpu] < Inventory::kWhole) { continue; }
        after.milli[gpu] = 0;
        --left;
      }
      return {state, 0, gain(before - fragmentation(after, typical_, fits))};
    }
    Known best{state, 0, 0};
    bool any = false;
    for (std::uint32_t gpu = 0; gpu < free.gpus; ++gpu) {
      if (free.milli[gpu] < demand.gpu_milli) { continue; }
      after.milli[gpu] = static_cast<std::uint16_t>(free.milli[gpu] - demand.gpu_milli);
      const std::uint16_t score = gain(before - fragmentation(after, typical_, fits));
      after.milli[gpu] = free.milli[gpu];
      if (any && score <= best.score) { continue; }
      best = {state, static_cast<std::uint16_t>(gpu), score};
      any = true;
    }
    return best;
  }

  static std::uint16_t gain(double less) {
    return static_cast<std::uint16_t>(score_of(1 / (1 + std::exp(-less / kSlope))));
  }

  /// Which typical tasks a node's type is good for.
  const std::vector<bool>& fits_of(NodeId node, const Inventory& inventory) {
    const std::uint16_t type = nodes_.nodes[node].gpu_type;
    if (fits_.size() <= type) { fits_.resize(type + std::size_t{1}); }
    std::vector<bool>& fits = fits_[type];
    if (fits.empty()) {
      for (const TypicalTask& task : typical_) { fits.push_back(inventory.has_type(node, task.demand.gpu_types)); }
    }
    return fits;
  }

  const NodeList& nodes_;
  std::vector<TypicalTask> typical_;
  std::vector<std::vector<bool>> fits_;  ///< by type of GPUs
  std::map<Demand, std::vector<Known>> known_;
};

}  // namespace

struct Fgd final : PlacementKind {
  static constexpr std::string_view kName = "fgd";
  static constexpr std::string_view kMeaning =
      "each task where it makes the least of free GPUs useless for typical tasks (fragmentation gradient descent)";
  ScoredSettings settings;
  Ratio typical_share{95, 100};

  void visit(Fields& fields) override {
    athanor::visit(fields, settings);
    fields.optional("typical_share", typical_share, "The most frequent demands that make up this share are typical",
                    {Ratio{1, 100}, Ratio{1, 1}});
  }
  std::unique_ptr<PlacementPolicy> make(const NodeList& nodes, const JobList& jobs, std::uint64_t seed) const override {
    return std::make_unique<FgdPolicy>(nodes, jobs, settings, to_double(typical_share), seed);
  }
};

template PlacementEntry placement_entry_of<Fgd>();

}  // namespace athanor
