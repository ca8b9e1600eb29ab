#include "models/training/balance/mixed_balance.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "models/training/balance/split.hpp"
#include "models/training/memory.hpp"
#include "models/training/parameter_share.hpp"
#include "models/training/step/rank_grid.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

Time computing_of(const Pieces& pieces) {
  Time sum;
  for (const WorkPiece& piece : pieces) { sum += piece.computes ? piece.time : Time::zero(); }
  return sum;
}

Time computing_of(const LayerPieces& layer) {
  return computing_of(layer.forward) + computing_of(layer.recompute) + computing_of(layer.backward);
}

/// What one kind of GPU takes for a micro-batch.
struct ModelTimes {
  Time before;                ///< the embedding
  std::vector<Time> through;  ///< up to each layer: of so many layers from the first on
  Time behind;                ///< all behind the last layer
};

const PipelineSchedule& first_schedule(const StepShape& shape) { return shape.schedules.begin()->second; }

std::vector<Time> layer_times(const StepPieces& pieces) {
  std::vector<Time> times;
  for (const ChunkPieces& place : pieces.places) {
    for (const LayerPieces& layer : place.layers) { times.push_back(computing_of(layer)); }
  }
  return times;
}

ModelTimes times_on(const TrainingSetup& setup, const StepShape& shape, std::uint32_t kind) {
  const StepPieces pieces = pieces_on(setup, kind, first_schedule(shape).micro_batches, first_schedule(shape));
  const std::vector<Time> all = layer_times(pieces);
  const std::size_t first = setup.model.transformer ? 1 : 0;
  const std::size_t layers = layers_of(setup.model);
  ModelTimes times;
  times.through.push_back({});
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i < first) {
      times.before += all[i];
    } else if (i < first + layers) {
      times.through.push_back(times.through.back() + all[i]);
    } else {
      times.behind += all[i];
    }
  }
  return times;
}

/// Times of all kinds that ranks are of.
class KindTimes {
 public:
  explicit KindTimes(const TrainingSetup& setup) : setup_(setup), shape_(shape_of(setup)) {
    for (const StepLane& lane : shape_.lanes.all()) {
      for (const std::uint32_t kind : lane.kinds) {
        if (!times_.contains(kind)) { times_[kind] = times_on(setup, shape_, kind); }
      }
    }
  }

  const std::vector<StepLane>& lanes() const { return shape_.lanes.all(); }
  std::uint32_t of_rank(std::uint32_t rank) const { return shape_.lanes.of(rank); }
  const PipelineSchedule& schedule() const { return first_schedule(shape_); }

  Time on(std::uint32_t kind, std::uint32_t stage, std::uint32_t first, std::uint32_t count) const {
    const ModelTimes& times = times_.at(kind);
    Time sum = times.through.at(first + count) - times.through.at(first);
    if (stage == 0) { sum += times.before; }
    if (stage + 1 == setup_.plan.pipeline) { sum += times.behind; }
    return sum;
  }
  /// By stage, of a lane with the setup's layers.
  std::vector<Time> of_lane(const StepLane& lane) const {
    std::vector<Time> all;
    std::uint32_t first = 0;
    for (std::uint32_t stage = 0; stage < setup_.plan.pipeline; ++stage) {
      all.push_back(on(lane.kinds[stage], stage, first, setup_.layers.at(stage)));
      first += setup_.layers[stage];
    }
    return all;
  }
  /// By copy; where its ranks are in several lanes, stage for stage the slowest of them.
  std::vector<CopyPace> copies() const;

 private:
  const TrainingSetup& setup_;
  StepShape shape_;
  std::map<std::uint32_t, ModelTimes> times_;
};

std::vector<CopyPace> KindTimes::copies() const {
  std::vector<CopyPace> paces;
  const RankGrid grid = RankGrid::dense(setup_.plan);
  for (std::uint32_t copy = 0; copy < setup_.plan.data; ++copy) {
    std::vector<Time> slowest(setup_.plan.pipeline);
    std::set<std::uint32_t> seen;
    for (std::uint32_t context = 0; context < setup_.plan.context; ++context) {
      for (std::uint32_t tensor = 0; tensor < setup_.plan.tensor; ++tensor) {
        seen.insert(of_rank(grid.rank({tensor, context, 0, copy, 0})));
      }
    }
    for (const std::uint32_t lane : seen) {
      const std::vector<Time> own = of_lane(lanes()[lane]);
      for (std::size_t stage = 0; stage < own.size(); ++stage) {
        slowest[stage] = std::max(slowest[stage], own[stage]);
      }
    }
    CopyPace& pace = paces.emplace_back();
    for (const Time each : slowest) {
      pace.fill += each;
      pace.pace = std::max(pace.pace, each);
    }
  }
  return paces;
}

const GpuRates& gpu_of(const TrainingSetup& setup, std::uint32_t kind) {
  return kind == 0 ? setup.gpu : setup.others.at(kind - 1).gpu;
}

/// Of layers that all weigh as much as those in the middle of the model; at least one.
std::vector<std::uint32_t> most_that_fit(const TrainingSetup& setup, const KindTimes& times) {
  const std::uint32_t layers = layers_of(setup.model);
  std::vector<std::uint32_t> most(setup.plan.pipeline, layers);
  if (!setup.model.transformer) { return most; }
  const std::vector<double> in_flight = most_in_flight(times.schedule());
  for (std::uint32_t stage = 0; stage < setup.plan.pipeline; ++stage) {
    double room = 0;
    for (const StepLane& lane : times.lanes()) {
      const double own = gpu_of(setup, lane.kinds[stage]).memory;
      if (own > 0 && (room == 0 || own < room)) { room = own; }
    }
    StageLoad load;
    load.embedding = stage == 0;
    load.output = stage + 1 == setup.plan.pipeline;
    load.in_flight = in_flight[stage];
    for (std::uint32_t count = 1; room > 0 && count <= layers; ++count) {
      load.layers.push_back(load.output ? layers - count : count - 1);
      load.in_chunk.push_back(count - 1);
      most[stage] = count;
      if (memory_of(*setup.model.transformer, setup.plan, load).total() <= room) { continue; }
      most[stage] = std::max(1U, count - 1);
      break;
    }
  }
  return most;
}

}  // namespace

std::vector<std::uint32_t> layers_by_speed(const TrainingSetup& setup) {
  const KindTimes times(setup);
  std::vector<std::set<std::uint32_t>> kinds(setup.plan.pipeline);
  for (const StepLane& lane : times.lanes()) {
    for (std::size_t stage = 0; stage < kinds.size(); ++stage) { kinds[stage].insert(lane.kinds[stage]); }
  }
  const StageCost cost = [&](std::uint32_t stage, std::uint32_t first, std::uint32_t count) {
    Time slowest;
    for (const std::uint32_t kind : kinds[stage]) { slowest = std::max(slowest, times.on(kind, stage, first, count)); }
    return slowest;
  };
  return balanced_layers(layers_of(setup.model), most_that_fit(setup, times), cost);
}

std::vector<std::uint32_t> micro_batches_by_speed(const TrainingSetup& setup) {
  return balanced_batch(setup.plan.global_batch / setup.plan.micro_batch, KindTimes(setup).copies());
}

Time slowest_stage(const TrainingSetup& setup) {
  Time slowest;
  for (const CopyPace& copy : KindTimes(setup).copies()) { slowest = std::max(slowest, copy.pace); }
  return slowest;
}

Time slowest_copy(const TrainingSetup& setup) {
  const std::vector<std::uint32_t>& own = setup.plan.mixed.micro_batches;
  const std::vector<CopyPace> copies = KindTimes(setup).copies();
  Time slowest;
  for (std::size_t copy = 0; copy < copies.size(); ++copy) {
    const std::uint32_t count = own.empty() ? setup.plan.micro_batches() : own[copy];
    slowest = std::max(slowest, copies[copy].fill + copies[copy].pace * (count - 1));
  }
  return slowest;
}

}  // namespace athanor
