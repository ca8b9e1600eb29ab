#include "models/experiments/scenario/mixed_section.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/core.h>

#include "models/training/balance/mixed_balance.hpp"
#include "models/training/step/rank_grid.hpp"
#include "sim/error.hpp"
#include "sim/words.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

const Names<Balancing>& names_of(Balancing /*balance*/) {
  static const Names<Balancing> names(
      {{"none", Balancing::none}, {"layers", Balancing::layers}, {"batch", Balancing::batch}});
  return names;
}

constexpr std::uint32_t kMostRanks = 1'000'000;

void visit(Fields& fields, SlowGpus& slow) {
  fields.optional("nodes", slow.nodes, "All GPUs of these nodes, counted from 0", {0, kMostRanks});
  fields.optional("ranks", slow.ranks, "In place of `nodes`: ranks, counted from 0", {0, kMostRanks});
  fields.required("slower", slow.slower, "How much longer they compute: 1.25", {{1, 1}, {1000, 1}});
  if (slow.nodes.empty() == slow.ranks.empty() && fields.ok()) {
    fields.problem("", "conflict", "which GPUs are slow is said by \"nodes\" or by \"ranks\", by one of them",
                   R"(write "nodes": [3])");
  }
}

}  // namespace

void read_uneven_shares(Fields& fields, ParallelPlan& plan, MixedConfig& config, bool layers) {
  fields.optional("micro_batches", plan.mixed.micro_batches,
                  "Of each copy, by data rank; absent: all have as many. Gradients are weighted by them",
                  {1, 1'000'000});
  fields.optional("balance", config.balance,
                  "What is divided by how fast GPUs compute: none, layers (over stages), batch (over copies)",
                  names_of(config.balance));
  if (config.balance == Balancing::layers && layers) {
    fields.problem("balance", "conflict", "\"layers\" already says how many each stage has", "leave one of them out");
  }
  if (config.balance == Balancing::batch && !plan.mixed.micro_batches.empty()) {
    fields.problem("balance", "conflict", "\"micro_batches\" already says how many each copy has",
                   "leave one of them out");
  }
}

void read_stragglers(Fields& fields, MixedConfig& config) {
  fields.optional_list("stragglers", config.stragglers, "GPUs that compute more slowly than others of their kind",
                       [](Fields& inner, SlowGpus& slow) { visit(inner, slow); });
}

std::string counts_text(const std::vector<std::uint32_t>& counts) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < counts.size();) {
    const auto end = std::find_if(counts.begin() + static_cast<std::ptrdiff_t>(i), counts.end(),
                                  [&](std::uint32_t each) { return each != counts[i]; });
    const auto same = static_cast<std::size_t>(end - counts.begin()) - i;
    words.push_back(same > 2 ? fmt::format("{} x {}", same, counts[i]) : fmt::format("{}", counts[i]));
    if (same == 2) { words.push_back(words.back()); }
    i += same;
  }
  return fmt::format("{}", joined(words, ", "));
}

namespace {

/// All-to-alls of experts are made by all of their ranks, for each micro-batch.
bool experts_join_unlike(const ParallelPlan& plan) {
  if (plan.expert == 1) { return false; }
  const StepLanes lanes(plan, {});
  for (const StepLanes::Part& part : lanes.parts_of(RankGrid::expert(plan).groups(0, {RankGrid::Dimension::expert}))) {
    for (const std::uint32_t lane : part.lanes) {
      if (lanes.all()[lane].micro_batches != lanes.all()[part.lanes.front()].micro_batches) { return true; }
    }
  }
  return false;
}

std::optional<MixedFault> uneven_plan_fault(const ParallelPlan& plan) {
  if (plan.sharding >= Sharding::gradients) {
    return MixedFault{
        "conflict",
        fmt::format("with \"sharding\": \"{}\" all copies gather or reduce for each micro-batch, and these "
                    "have unlike numbers of them",
                    name(plan.sharding)),
        R"(write "sharding": "none" or "optimizer")"};
  }
  if (experts_join_unlike(plan)) {
    return MixedFault{"conflict",
                      "experts are spread over copies with unlike numbers of micro-batches, which exchange tokens for "
                      "each of them",
                      "give copies that share experts as many"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<MixedFault> uneven_batch_fault(const ParallelPlan& plan) {
  const std::vector<std::uint32_t>& own = plan.mixed.micro_batches;
  if (own.empty()) { return std::nullopt; }
  if (own.size() != plan.data) {
    return MixedFault{
        "micro-batches-do-not-fit",
        fmt::format("\"micro_batches\" names those of {} copies, and there are {}", own.size(), plan.data),
        "name as many for each copy, by data rank"};
  }
  const std::uint64_t sum = std::accumulate(own.begin(), own.end(), std::uint64_t{0});
  if (sum * plan.micro_batch != plan.global_batch) {
    return MixedFault{"micro-batches-do-not-fit",
                      fmt::format("{} micro-batches of {} are {} sequences, and the global batch has {}", sum,
                                  plan.micro_batch, sum * plan.micro_batch, plan.global_batch),
                      fmt::format("write \"global_batch\": {}", sum * plan.micro_batch)};
  }
  if (std::all_of(own.begin(), own.end(), [&](std::uint32_t each) { return each == own.front(); })) {
    return std::nullopt;
  }
  return uneven_plan_fault(plan);
}

std::optional<MixedFault> balance_fault(const ParallelPlan& plan, Balancing balance) {
  if (balance == Balancing::none) { return std::nullopt; }
  const std::string what = balance == Balancing::layers ? "layers" : "batch";
  if (balance == Balancing::layers && plan.pipeline == 1) {
    return MixedFault{"no-effect", "layers are balanced over pipeline stages, and there is one",
                      R"(leave "balance" out, or write "pipeline": 2 or more)"};
  }
  if (balance == Balancing::batch && plan.data == 1) {
    return MixedFault{"no-effect", "the batch is balanced over copies, and there is one", R"(leave "balance" out)"};
  }
  if (plan.chunks() > 1 || plan.schedule == PipelineKind::dual_pipe) {
    return MixedFault{"conflict",
                      fmt::format("the {} are balanced over stages with one chunk of layers each, which {} has not",
                                  what, name(plan.schedule)),
                      R"(write "schedule": "1f1b", "gpipe", "zb_h1" or "zb_h2")"};
  }
  if (balance == Balancing::layers && (plan.recompute_layers > 0 || plan.offload_layers > 0)) {
    return MixedFault{"conflict",
                      "layers are balanced that all do the same, and some are recomputed or offloaded alone",
                      R"(leave "recompute_layers" and "offload_layers" out, or write "layers")"};
  }
  if (balance == Balancing::batch &&
      (plan.global_batch % plan.micro_batch != 0 || plan.global_batch / plan.micro_batch < plan.data)) {
    return MixedFault{"batch-does-not-divide",
                      fmt::format("a global batch of {} is no micro-batches of {} for each of {} copies",
                                  plan.global_batch, plan.micro_batch, plan.data),
                      "change one of them"};
  }
  if (balance == Balancing::batch && plan.sharding >= Sharding::gradients) { return uneven_plan_fault(plan); }
  return std::nullopt;
}

std::optional<MixedFault> idle_stage_fault(const PipelineSchedule& schedule, const std::vector<std::uint32_t>& layers) {
  std::vector<bool> works(schedule.stages);
  for (std::uint32_t place = 0; place < schedule.places(); ++place) {
    const bool end = place == 0 || place + 1 == schedule.places();
    if (end || layers[place] > 0) { works[schedule.stage_chunks[place].stage] = true; }
  }
  const auto idle = std::find(works.begin(), works.end(), false);
  if (idle == works.end()) { return std::nullopt; }
  return MixedFault{"stage-without-layers", fmt::format("stage {} has no layer", idle - works.begin()),
                    "give it one, or use fewer stages"};
}

namespace {

/// Ranks of nodes, or those that are named.
std::optional<MixedFault> ranks_of(const SlowGpus& slow, const Cluster& cluster, std::uint32_t ranks,
                                   std::vector<std::uint32_t>& found) {
  for (const std::uint32_t rank : slow.ranks) {
    if (rank >= ranks) {
      return MixedFault{"no-such-rank", fmt::format("rank {} is slow, and the training has {}", rank, ranks),
                        fmt::format("name one from 0 to {}", ranks - 1)};
    }
    found.push_back(rank);
  }
  for (const std::uint32_t node : slow.nodes) {
    const std::size_t before = found.size();
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      if (cluster.fabric->vertex(cluster.endpoints[rank]).node == node) { found.push_back(rank); }
    }
    if (found.size() == before) {
      return MixedFault{"no-such-rank", fmt::format("node {} is slow, and has no rank of the training", node),
                        "name a node that ranks are on, counted from 0"};
    }
  }
  return std::nullopt;
}

std::uint32_t slow_kind(std::uint32_t kind, Ratio slower, TrainingSetup& setup) {
  GpuKind slow = kind == 0 ? GpuKind{setup.gpu, setup.compute} : setup.others.at(kind - 1);
  slow.slower *= to_double(slower);
  slow.gpu.name += fmt::format(" slowed by {:g}", to_double(slower));
  const auto found = std::find_if(setup.others.begin(), setup.others.end(), [&](const GpuKind& each) {
    return each.gpu.name == slow.gpu.name && each.slower == slow.slower;
  });
  const auto number = static_cast<std::uint32_t>(found - setup.others.begin()) + 1;
  if (found == setup.others.end()) { setup.others.push_back(std::move(slow)); }
  return number;
}

}  // namespace

std::optional<MixedFault> take_stragglers(const MixedConfig& config, const Cluster& cluster, std::uint32_t ranks,
                                          TrainingSetup& setup, std::vector<std::string>& notes) {
  if (config.stragglers.empty()) { return std::nullopt; }
  if (setup.kind_of_rank.empty()) { setup.kind_of_rank.resize(cluster.endpoints.size()); }
  std::vector<bool> named(cluster.endpoints.size());
  for (const SlowGpus& slow : config.stragglers) {
    std::vector<std::uint32_t> named_here;
    if (auto fault = ranks_of(slow, cluster, ranks, named_here)) { return fault; }
    for (const std::uint32_t rank : named_here) {
      if (named[rank]) {
        return MixedFault{"duplicate-name", fmt::format("rank {} is slow twice", rank), "name each once"};
      }
      named[rank] = true;
      setup.kind_of_rank[rank] = slow_kind(setup.kind_of_rank[rank], slow.slower, setup);
    }
    notes.push_back(fmt::format("stragglers: {} {} {} times as long to compute, and others wait for {}",
                                named_here.size(), named_here.size() == 1 ? "GPU takes" : "GPUs take",
                                to_double(slow.slower), named_here.size() == 1 ? "it" : "them"));
  }
  return std::nullopt;
}

namespace {

std::string gain_text(Time even, Time balanced) {
  return fmt::format("{:.4g} ms in place of {:.4g}", seconds(balanced) * 1e3, seconds(even) * 1e3);
}

std::optional<MixedFault> balance_layers(TrainingSetup& setup, std::vector<std::string>& notes) {
  const std::vector<std::uint32_t> split = layers_by_speed(setup);
  if (split.empty()) {
    return MixedFault{"out-of-memory", "no split of layers over stages fits into the memory of their GPUs",
                      "use more stages, recomputation or a smaller micro_batch"};
  }
  const Time even = slowest_stage(setup);
  if (split == setup.layers) {
    notes.emplace_back("balance: as many layers on each stage are the best already");
    return std::nullopt;
  }
  setup.layers = split;
  notes.push_back(fmt::format("balance: {} layers on the stages; the slowest computes a micro-batch in {}",
                              counts_text(split), gain_text(even, slowest_stage(setup))));
  return std::nullopt;
}

std::optional<MixedFault> balance_batch(TrainingSetup& setup, std::vector<std::string>& notes) {
  const std::vector<std::uint32_t> split = micro_batches_by_speed(setup);
  if (std::all_of(split.begin(), split.end(), [&](std::uint32_t each) { return each == split.front(); })) {
    notes.emplace_back("balance: as many micro-batches for each copy are the best already");
    return std::nullopt;
  }
  setup.plan.mixed.micro_batches = split;
  notes.push_back(
      fmt::format("balance: {} micro-batches for the copies; the slowest computes them in {:.4g} ms, and "
                  "gradients are weighted by them",
                  counts_text(split), seconds(slowest_copy(setup)) * 1e3));
  return uneven_batch_fault(setup.plan);
}

}  // namespace

std::optional<MixedFault> take_balance(Balancing balance, TrainingSetup& setup, std::vector<std::string>& notes) {
  switch (balance) {
    case Balancing::none: return std::nullopt;
    case Balancing::layers: return balance_layers(setup, notes);
    case Balancing::batch: return balance_batch(setup, notes);
  }
  return std::nullopt;
}

std::optional<FullestKind> fullest_kind(const TrainingSetup& setup) {
  if (setup.others.empty() || !setup.model.transformer) { return std::nullopt; }
  std::optional<FullestKind> fullest;
  double most = 0;
  const StepShape shape = shape_of(setup);
  std::map<std::uint32_t, std::vector<MemoryUse>> by_count;
  for (const StepLane& lane : shape.lanes.all()) {
    std::vector<MemoryUse>& stages = by_count[lane.micro_batches];
    if (stages.empty()) {
      stages = memory_of_stages(*setup.model.transformer, with_micro_batches(setup.plan, lane.micro_batches),
                                setup.layers, shape.schedules.at(lane.micro_batches));
    }
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      const std::uint32_t kind = lane.kinds[stage];
      const double room = (kind == 0 ? setup.gpu : setup.others[kind - 1].gpu).memory;
      const double share = room == 0 ? 0 : stages[stage].total() / room;
      if (!fullest || share > most) {
        fullest = {kind, stages[stage]};
        most = share;
      }
    }
  }
  return fullest;
}

}  // namespace athanor
