#include "models/training/search/step_bound.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "models/training/parameter_share.hpp"
#include "models/training/step/rank_grid.hpp"
#include "models/training/step/step_pieces.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

using Dimension = RankGrid::Dimension;

Time computing(const Pieces& pieces) {
  Time sum;
  for (const WorkPiece& piece : pieces) {
    if (piece.computes) { sum += piece.time; }
  }
  return sum;
}

ChunkComputing computing(const LayerPieces& layer) {
  const Time recompute = computing(layer.recompute);
  return {.forward = computing(layer.forward),
          .backward = recompute + computing(layer.backward),
          .backward_input = recompute + computing(layer.backward_input),
          .backward_weight = computing(layer.backward_weight),
          .held = {layer.dense_parameters, layer.expert_parameters, layer.matrices}};
}

void add(ChunkComputing& sum, const ChunkComputing& more) {
  sum.forward += more.forward;
  sum.backward += more.backward;
  sum.backward_input += more.backward_input;
  sum.backward_weight += more.backward_weight;
  sum.held += more.held;
}

bool splits_backward(PipelineKind kind) {
  return kind == PipelineKind::zb_h1 || kind == PipelineKind::zb_h2 || kind == PipelineKind::zb_v;
}

PipelineDurations durations_of(const ChunkComputing& chunk, PipelineKind kind) {
  PipelineDurations durations;
  durations.forward = chunk.forward;
  durations.backward_input = splits_backward(kind) ? chunk.backward_input : chunk.backward;
  durations.backward_weight = splits_backward(kind) ? chunk.backward_weight : Time::zero();
  return durations;
}

/// Where two directions meet, a pass may hand on what it has made before the one beside it ends. What holds anyway: a
/// stage computes all its passes after the shorter of the two ways to it.
std::vector<Time> ends_of_two_directions(const PipelineSchedule& schedule, const std::vector<ChunkComputing>& places) {
  std::vector<Time> work(schedule.stages);
  std::vector<Time> arrival(schedule.stages, Time::max());
  for (std::uint32_t replica = 0; replica < schedule.replicas; ++replica) {
    Time way;
    for (std::uint32_t place = 0; place < schedule.places(); ++place) {
      const std::uint32_t stage = schedule.stage_chunks[replica * schedule.places() + place].stage;
      const Time pass = places[place].forward + places[place].backward;
      work[stage] += pass * (schedule.micro_batches / schedule.replicas);
      arrival[stage] = std::min(arrival[stage], way);
      way += places[place].forward;
    }
  }
  for (std::uint32_t stage = 0; stage < schedule.stages; ++stage) { work[stage] += arrival[stage]; }
  return work;
}

std::vector<Time> ends_of(const PipelineSchedule& schedule, const std::vector<PipelineDurations>& durations) {
  std::vector<Time> ends;
  for (const PipelineTimes::Stage& stage : pipeline_times(schedule, durations).stages) { ends.push_back(stage.end); }
  return ends;
}

}  // namespace

void ComputingBound::take(const PipelineSchedule& schedule, const std::vector<std::uint32_t>& layers) {
  require(layers.size() == schedule.places(), "layers of {} places, of {}", layers.size(), schedule.places());
  schedule_ = &schedule;
  layers_ = &layers;
  ends_.clear();
}

ComputingBound::Key ComputingBound::key_of(const ParallelPlan& plan) {
  const bool selective = plan.recompute == Recompute::selective;
  return {plan.tensor,
          plan.context,
          plan.expert,
          plan.expert_tensor,
          plan.micro_batch,
          plan.recompute,
          selective ? plan.recompute_modules : RecomputeModules{},
          plan.sequence_parallel};
}

/// As if all were on one stage.
const std::vector<ChunkComputing>& ComputingBound::layers_of(const ParallelPlan& plan) {
  const auto [found, fresh] = known_.try_emplace(key_of(plan));
  if (!fresh) { return found->second; }
  ParallelPlan alone = plan;
  alone.pipeline = alone.virtual_stages = 1;
  const StepPieces step =
      step_pieces(setup_.model, alone, {athanor::layers_of(setup_.model)},
                  pipeline_schedule(PipelineKind::one_f_one_b, 1, 1, 1), setup_.gpu, setup_.compute);
  for (const LayerPieces& layer : step.places.front().layers) { found->second.push_back(computing(layer)); }
  return found->second;
}

std::vector<ChunkComputing> ComputingBound::places_of(const ParallelPlan& plan) {
  const std::vector<ChunkComputing>& all = layers_of(plan);
  std::vector<ChunkComputing> places(layers_->size());
  std::size_t next = 0;
  const auto take = [&](ChunkComputing& place, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) { add(place, all[next++]); }
  };
  if (setup_.model.transformer) { take(places.front(), 1); }
  for (std::size_t place = 0; place < places.size(); ++place) { take(places[place], (*layers_)[place]); }
  take(places.back(), all.size() - next);
  return places;
}

ComputingBound::Stages ComputingBound::stages_of(const ParallelPlan& plan) {
  const std::vector<ChunkComputing> places = places_of(plan);
  Stages stages;
  stages.held.resize(schedule_->stages);
  for (std::size_t entry = 0; entry < schedule_->stage_chunks.size(); ++entry) {
    stages.held[schedule_->stage_chunks[entry].stage] += places[entry % places.size()].held;
  }
  if (schedule_->replicas > 1) {
    stages.ends = ends_of_two_directions(*schedule_, places);
    return stages;
  }
  std::vector<PipelineDurations> durations;
  for (const ChunkComputing& place : places) { durations.push_back(durations_of(place, plan.schedule)); }
  stages.ends = ends_of(*schedule_, durations);
  return stages;
}

Time ComputingBound::of(const ParallelPlan& plan) {
  require(schedule_ != nullptr, "no pipeline was taken");
  const auto [found, fresh] = ends_.try_emplace(key_of(plan));
  if (fresh) { found->second = stages_of(plan); }
  Time last;
  for (std::size_t stage = 0; stage < found->second.ends.size(); ++stage) {
    const Time update = optimizer_time(found->second.held[stage], plan, setup_.gpu, setup_.compute);
    last = std::max(last, found->second.ends[stage] + update);
  }
  return with_stragglers(last, plan, setup_.compute);
}

namespace {

/// What the stages of a plan pay for collectives and messages.
class StageTimes {
 public:
  StageTimes(const TrainingSetup& setup, const PipelineSchedule& schedule, CollectiveTimer& timer)
      : schedule_(schedule),
        timer_(timer),
        dense_(RankGrid::dense(setup.plan)),
        expert_(RankGrid::expert(setup.plan)) {}

  Time call(std::uint32_t stage, const WorkPiece& piece) {
    const Question question{stage, piece.use, piece.kind, piece.size, piece.imbalance, piece.exchange};
    const auto [found, fresh] = known_.try_emplace(question);
    if (fresh) {
      const Workload::Call call{.communicator = communicator(stage, piece.use),
                                .kind = piece.kind,
                                .size = piece.size,
                                .type = DataType::bfloat16,
                                .root = 0,
                                .imbalance = piece.imbalance,
                                .exchange = piece.exchange};
      found->second = timer_.time(communicators_, call);
    }
    return found->second;
  }

  /// Across the boundary behind a place, forwards or backwards; nothing where both sides are on one stage.
  Time message(std::uint32_t place, Bytes size, bool forwards) {
    std::uint32_t from = schedule_.stage_chunks[place].stage;
    std::uint32_t to = schedule_.stage_chunks[place + 1].stage;
    if (from == to) { return Time::zero(); }
    if (!forwards) { std::swap(from, to); }
    const auto [found, fresh] = messages_.try_emplace({from, to});
    if (fresh) {
      const Workload::Channel channel{
          "", Parallelism::pipeline, from, to, std::make_shared<const EndpointGroups>(dense_.pairs(from, to)), false};
      found->second = timer_.estimate(channel, size).time;
    }
    return found->second;
  }

 private:
  using Question =
      std::tuple<std::uint32_t, Parallelism, CollectiveKind, Bytes, double, std::shared_ptr<const TokenExchange>>;

  std::uint32_t communicator(std::uint32_t stage, Parallelism use) {
    const auto number = static_cast<std::uint32_t>(communicators_.communicators.size());
    const auto [found, fresh] = numbers_.try_emplace({stage, use}, number);
    if (fresh) {
      const bool experts = use == Parallelism::expert;
      const Dimension dimension = experts                       ? Dimension::expert
                                  : use == Parallelism::context ? Dimension::context
                                                                : Dimension::tensor;
      communicators_.communicators.push_back(
          {"",
           use,
           {stage},
           std::make_shared<const EndpointGroups>((experts ? expert_ : dense_).groups(stage, {dimension}))});
    }
    return found->second;
  }

  const PipelineSchedule& schedule_;
  CollectiveTimer& timer_;
  RankGrid dense_;
  RankGrid expert_;
  Workload communicators_;  ///< without workers
  std::map<std::pair<std::uint32_t, Parallelism>, std::uint32_t> numbers_;
  std::map<Question, Time> known_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Time> messages_;  ///< by stages; all boundaries are of one size
};

/// A pass through a chunk from its first piece on, as Chain has its operations wait for each other.
class PassClock {
 public:
  PassClock(StageTimes& estimates, std::uint32_t stage) : estimates_(estimates), stage_(stage) {}

  void add(const Pieces& pieces) {
    for (const WorkPiece& piece : pieces) { add(piece); }
  }

  /// What follows on the stage, and on others, begins no earlier.
  Time end() const { return std::max(computed_, next_); }

 private:
  void add(const WorkPiece& piece) {
    if (piece.computes) {
      computed_ = end() + piece.time;
      next_ = std::exchange(beside_, Time::zero());
      return;
    }
    Time& stream = streams_[static_cast<std::size_t>(piece.use)];
    stream = std::max(end(), stream) + estimates_.call(stage_, piece);
    if (piece.beside) {
      beside_ = std::max(beside_, stream);
    } else {
      next_ = stream;
    }
  }

  StageTimes& estimates_;
  std::uint32_t stage_;
  Time computed_;
  Time next_;    ///< when communication has ended that the next computation waits for
  Time beside_;  ///< the one after it
  std::array<Time, kParallelisms> streams_{};
};

/// Passes through the chunk of one place.
class PlacePasses {
 public:
  PlacePasses(const ChunkPieces& chunk, StageTimes& estimates, std::uint32_t stage)
      : chunk_(chunk), estimates_(estimates), stage_(stage) {}

  ChunkComputing all() const {
    PassClock forward(estimates_, stage_);
    for (const LayerPieces& layer : chunk_.layers) { forward.add(layer.forward); }
    return {.forward = forward.end(),
            .backward = backwards(true, &LayerPieces::backward),
            .backward_input = backwards(true, &LayerPieces::backward_input),
            .backward_weight = backwards(false, &LayerPieces::backward_weight),
            .held = {}};
  }

 private:
  Time backwards(bool inputs, Pieces LayerPieces::*pieces) const {
    PassClock clock(estimates_, stage_);
    for (auto layer = chunk_.layers.rbegin(); layer != chunk_.layers.rend(); ++layer) {
      if (inputs) { clock.add(layer->recompute); }
      clock.add((*layer).*pieces);
    }
    return clock.end();
  }

  const ChunkPieces& chunk_;
  StageTimes& estimates_;
  std::uint32_t stage_;
};

/// Where sending is waited for, it is a part of the pass.
void add_messages(std::vector<PipelineDurations>& durations, const StepPieces& step, bool overlap,
                  StageTimes& estimates) {
  for (std::uint32_t place = 0; place < step.boundaries.size(); ++place) {
    const Time on = estimates.message(place, step.boundaries[place], true);
    const Time back = estimates.message(place, step.boundaries[place], false);
    if (overlap) {
      durations[place].message = std::min(on, back);
    } else {
      durations[place].forward += on;
      durations[place + 1].backward_input += back;
    }
  }
}

}  // namespace

Time step_bound(const TrainingSetup& setup, const PipelineSchedule& schedule, CollectiveTimer& timer) {
  if (schedule.replicas > 1) { return Time::zero(); }
  const StepPieces step = step_pieces(setup.model, setup.plan, setup.layers, schedule, setup.gpu, setup.compute);
  StageTimes estimates(setup, schedule, timer);
  std::vector<ChunkComputing> places;
  for (std::uint32_t place = 0; place < schedule.places(); ++place) {
    places.push_back(PlacePasses(step.places[place], estimates, schedule.stage_chunks[place].stage).all());
  }
  std::vector<PipelineDurations> durations;
  for (const ChunkComputing& place : places) { durations.push_back(durations_of(place, setup.plan.schedule)); }
  add_messages(durations, step, setup.plan.overlap_pipeline, estimates);
  const std::vector<Time> ends = ends_of(schedule, durations);
  Time last;
  for (std::uint32_t stage = 0; stage < schedule.stages; ++stage) {
    last = std::max(last, ends[stage] + computing(step.optimizer[stage]));
  }
  return with_stragglers(last, setup.plan, setup.compute);
}

}  // namespace athanor
