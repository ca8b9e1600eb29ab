#include "models/training/step/slowest_pieces.hpp"

#include <algorithm>

#include "models/training/step/rank_grid.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

void slow_down(Pieces& pieces, const Pieces& others) {
  require(pieces.size() == others.size(), "{} pieces on one GPU and {} on another", pieces.size(), others.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) { pieces[i].time = std::max(pieces[i].time, others[i].time); }
}

void slow_down(LayerPieces& layer, const LayerPieces& other) {
  slow_down(layer.forward, other.forward);
  slow_down(layer.recompute, other.recompute);
  slow_down(layer.backward, other.backward);
  slow_down(layer.backward_input, other.backward_input);
  slow_down(layer.backward_weight, other.backward_weight);
}

}  // namespace

std::vector<KindCounts> kinds_of_stages(const ParallelPlan& plan, const std::vector<std::uint32_t>& kind_of_rank) {
  using Dimension = RankGrid::Dimension;
  const RankGrid grid = RankGrid::dense(plan);
  std::vector<KindCounts> kinds(plan.pipeline);
  for (std::uint32_t stage = 0; stage < plan.pipeline; ++stage) {
    for (const auto& group : grid.groups(stage, {Dimension::tensor, Dimension::context, Dimension::data})) {
      for (const std::uint32_t rank : group) { ++kinds[stage][kind_of_rank.at(rank)]; }
    }
  }
  return kinds;
}

StepPieces slowest(const std::vector<StepPieces>& by_kind, const std::vector<KindCounts>& kinds_of_stages,
                   const PipelineSchedule& schedule) {
  StepPieces step = by_kind.front();
  std::vector<KindCounts> of_place(schedule.places());
  for (std::size_t entry = 0; entry < schedule.seats.size(); ++entry) {
    of_place[entry % schedule.places()].merge(KindCounts(kinds_of_stages[schedule.seats[entry].stage]));
  }
  for (std::size_t place = 0; place < step.places.size(); ++place) {
    step.places[place] = by_kind[of_place[place].begin()->first].places[place];
    for (const auto& [kind, ranks] : of_place[place]) {
      for (std::size_t layer = 0; layer < step.places[place].layers.size(); ++layer) {
        slow_down(step.places[place].layers[layer], by_kind[kind].places[place].layers[layer]);
      }
    }
  }
  for (std::size_t stage = 0; stage < step.optimizer.size(); ++stage) {
    step.optimizer[stage] = by_kind[kinds_of_stages[stage].begin()->first].optimizer[stage];
    for (const auto& [kind, ranks] : kinds_of_stages[stage]) {
      slow_down(step.optimizer[stage], by_kind[kind].optimizer[stage]);
    }
  }
  return step;
}

}  // namespace athanor
