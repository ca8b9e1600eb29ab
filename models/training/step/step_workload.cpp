#include "models/training/step/step_workload.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include <fmt/core.h>

#include "models/training/step/data_parallel.hpp"
#include "models/training/step/host_offload.hpp"
#include "models/training/step/pass_turns.hpp"
#include "models/training/step/stage_writer.hpp"
#include "models/training/step/step_directory.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

using Kind = PipelineTask::Kind;

/// Whether the host takes longer to dispatch all of it than the GPU to compute it.
bool lags(const Pieces& pieces) {
  Time launch;
  Time compute;
  for (const WorkPiece& piece : pieces) {
    launch += piece.launch;
    compute += piece.time;
  }
  return launch > compute;
}

/// ... than some layer takes, forward or backward.
bool lags(const ChunkPieces& chunk) {
  return std::any_of(chunk.layers.begin(), chunk.layers.end(), [](const LayerPieces& layer) {
    return lags(layer.forward) || lags(layer.recompute) || lags(layer.backward) || lags(layer.backward_input) ||
           lags(layer.backward_weight);
  });
}

/// What one stage of a lane does in a step.
class StageSteps {
 public:
  StageSteps(const ParallelPlan& plan, const LaneStep& step, StepDirectory& directory, Workload& workload,
             std::uint32_t lane, std::uint32_t stage)
      : plan_(plan),
        schedule_(*step.schedule),
        pieces_(*step.of_stage.at(stage)),
        directory_(directory),
        writer_(workload, directory.worker(lane, stage)),
        lane_(lane),
        stage_(stage),
        entries_(schedule_.entries()) {
    for (const Parallelism use : {Parallelism::tensor, Parallelism::context, Parallelism::expert}) {
      communications_[use] = {writer_.stream(std::string(name(use))), directory.of_stage(lane, stage, use)};
    }
    for (std::uint32_t chunk = 0; chunk < schedule_.chunks; ++chunk) {
      add_data_parallel(chunk);
      host_lags_ = host_lags_ || lags(chunk_at(at(chunk)));
    }
  }

  void write() {
    for (const auto& each : data_) { each->begin(); }
    if (!host_lags_ && pieces_.launch > Time::zero()) { chain_.wait_for(writer_.host("launches", pieces_.launch, {})); }
    for (const PipelineTask& task : schedule_.tasks[stage_]) { write(task); }
    // Of all chunks before any is waited for: DualPipe's two are reduced with another stage, to which they come in
    // turn.
    std::vector<StageWriter::Number> reduced;
    for (const auto& each : data_) {
      for (const StageWriter::Number number : each->finish(chain_)) { reduced.push_back(number); }
    }
    for (const StageWriter::Number number : reduced) { chain_.wait_for(number); }
    add_up_embedding();
    for (const WorkPiece& piece : pieces_.optimizer[stage_]) { chain_.add(writer_, piece, communications_); }
    for (const auto& each : data_) { each->after_optimizer(chain_); }
  }

 private:
  /// A place of one of the replicas.
  struct At {
    std::uint32_t chunk = 0;
    std::uint32_t replica = 0;
    std::uint32_t place = 0;
  };

  /// Pieces whose dispatch has been written.
  struct Launched {
    std::optional<StageWriter::Number> all = {};  ///< none: the host is always ahead
    std::size_t last = 0;                         ///< the last piece that computes
  };

  At at(std::uint32_t chunk) const {
    const std::uint32_t entry = entries_[stage_ * schedule_.chunks + chunk];
    return {chunk, entry / schedule_.places(), entry % schedule_.places()};
  }
  const ChunkPieces& chunk_at(const At& at) const { return pieces_.places[at.place]; }

  void add_data_parallel(std::uint32_t chunk) {
    const At here = at(chunk);
    const std::string name = schedule_.replicas > 1 ? fmt::format(" of place {}", here.place) : "";
    data_.push_back(std::make_unique<DataParallel>(plan_, writer_, chunk_at(here),
                                                   schedule_.micro_batches / schedule_.replicas,
                                                   directory_.of_place(lane_, here.place, false),
                                                   directory_.of_place(lane_, here.place, true), pieces_.coding, name));
    offload_.emplace_back(writer_, chunk_at(here));
  }

  void write(const PipelineTask& task) {
    switch (task.kind) {
      case Kind::forward: return forward(chain_, at(task.chunk));
      case Kind::backward: return backward(chain_, at(task.chunk), true, true);
      case Kind::backward_input: return backward(chain_, at(task.chunk), true, false);
      case Kind::backward_weight: return backward(chain_, at(task.chunk), false, true);
      case Kind::forward_backward: return side_by_side(task);
    }
  }

  /// The stage and channel of the next or previous place; none where that is this stage, or beyond the model.
  struct Neighbour {
    std::uint32_t stage = 0;
    bool is_other = false;
  };
  Neighbour neighbour(const At& at, int step) const {
    const auto place = static_cast<std::int64_t>(at.place) + step;
    if (place < 0 || place >= schedule_.places()) { return {}; }
    const std::uint32_t stage =
        schedule_.stage_chunks[at.replica * schedule_.places() + static_cast<std::uint32_t>(place)].stage;
    return {stage, stage != stage_};
  }
  std::string boundary(const char* what, const At& at, int step) const {
    const std::string replica = schedule_.replicas > 1 ? fmt::format(" of direction {}", at.replica) : "";
    return fmt::format("{} of place {}{}", what, static_cast<std::int64_t>(at.place) + step, replica);
  }

  Bytes boundary_size(const At& at, int step) const { return pieces_.boundaries[step > 0 ? at.place : at.place - 1]; }

  /// Activations go on by `step` 1 and come from -1; gradients the other way round. Named by the place they come from.
  void receive(Chain& chain, const char* what, const At& at, int step) {
    const Neighbour other = neighbour(at, step);
    if (!other.is_other) { return; }
    const std::string name = boundary(what, at, step);
    const std::uint32_t channel = directory_.channel(lane_, name, other.stage, stage_);
    chain.wait_for(writer_.receive(writer_.stream("receive " + name), channel, boundary_size(at, step), {}));
  }
  void send(Chain& chain, const char* what, const At& at, int step) {
    const Neighbour other = neighbour(at, step);
    if (!other.is_other) { return; }
    const std::string name = boundary(what, at, 0);
    const std::uint32_t channel = directory_.channel(lane_, name, stage_, other.stage);
    const auto sent = writer_.send(writer_.stream("send " + name), channel, boundary_size(at, step), chain.ends());
    if (!plan_.overlap_pipeline) { chain.wait_for(sent); }
  }

  /// `after`: what follows each of them.
  void add(PassTurns& turns, Chain& chain, const Pieces& pieces,
           const std::function<void(const WorkPiece&)>& after = {}) {
    const auto launched = std::make_shared<Launched>();
    turns.then([this, &chain, &pieces, launched] { *launched = launch(chain, pieces); });
    bool exchanges = false;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      turns.then([this, &chain, &pieces, launched, after, i] {
        add(chain, pieces[i], i, *launched);
        if (after) { after(pieces[i]); }
      });
      const bool exchange = !pieces[i].computes && pieces[i].use == Parallelism::expert;
      const bool ends = exchange ? !pieces[i].beside : exchanges && pieces[i].computes;
      exchanges = (exchanges || exchange) && !ends;
      if (ends) { turns.end_turn(); }
    }
  }
  void add(Chain& chain, const WorkPiece& piece, std::size_t place, const Launched& launched) {
    if (launched.all && place == launched.last) { chain.wait_for(*launched.all); }
    chain.add(writer_, piece, communications_);
  }

  /// The host dispatches these pieces one after the other, ahead of the GPU where it can: none of them is computed
  /// before what was dispatched earlier is done with, and the last one not before all of them have been.
  Launched launch(Chain& chain, const Pieces& pieces) {
    Launched launched;
    if (!host_lags_) { return launched; }
    Time time;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      time += pieces[i].launch;
      if (pieces[i].computes) { launched.last = i; }
    }
    if (time == Time::zero()) { return launched; }
    StageWriter::Numbers after;
    if (dispatched_) { after = {*dispatched_}; }
    if (dispatched_) { chain.wait_for(*dispatched_); }
    dispatched_ = writer_.host("launches", time, after);
    launched.all = dispatched_;
    return launched;
  }

  void forward_layer(PassTurns& turns, Chain& chain, const At& here, std::size_t layer) {
    DataParallel& data = *data_[here.chunk];
    HostOffload& offload = offload_[here.chunk];
    turns.then([&data, &offload, &chain, layer] {
      data.before_forward(chain, layer);
      offload.before_forward(chain, layer);
    });
    add(turns, chain, chunk_at(here).layers[layer].forward);
    turns.then([&data, &offload, &chain, layer] {
      offload.after_forward(chain, layer);
      data.after_forward(chain, layer);
    });
  }
  void backward_layer(PassTurns& turns, Chain& chain, const At& here, std::size_t layer, bool inputs, bool weights) {
    DataParallel& data = *data_[here.chunk];
    HostOffload& offload = offload_[here.chunk];
    const LayerPieces& own = chunk_at(here).layers[layer];
    if (inputs) {
      turns.then([&data, &offload, &chain, layer] {
        data.before_backward(chain, layer);
        offload.before_backward(chain, layer);
      });
      add(turns, chain, own.recompute);
      if (!own.recompute.empty()) {
        turns.then([&data, &chain, layer] { data.after_recompute(chain, layer); });
      }
    }
    const Pieces& pieces = inputs && weights ? own.backward : inputs ? own.backward_input : own.backward_weight;
    add(turns, chain, pieces, [&data, &chain, layer](const WorkPiece& piece) {
      if (piece.gradients > 0) { data.during_backward(chain, layer, piece.gradients); }
    });
    if (weights) {
      turns.then([&data, &chain, layer] { data.after_backward(chain, layer); });
    }
  }

  /// The host exchanges messages with neighbours, waits for them, and launches what comes next: Megatron-LM's
  /// schedules (core 0.11: megatron/core/pipeline_parallel/p2p_communication.py) wait on the host between passes.
  void between_passes(Chain& chain) {
    if (pieces_.pass_overhead == Time::zero()) { return; }
    dispatched_ = writer_.host("between passes", pieces_.pass_overhead, chain.ends());
    chain.wait_for(*dispatched_);
  }

  PassTurns forward_turns(Chain& chain, const At& here) {
    PassTurns turns;
    for (std::size_t layer = 0; layer < chunk_at(here).layers.size(); ++layer) {
      forward_layer(turns, chain, here, layer);
    }
    return turns;
  }
  PassTurns backward_turns(Chain& chain, const At& here, bool inputs, bool weights) {
    PassTurns turns;
    for (std::size_t layer = chunk_at(here).layers.size(); layer-- > 0;) {
      backward_layer(turns, chain, here, layer, inputs, weights);
    }
    return turns;
  }

  void forward(Chain& chain, const At& here) {
    receive(chain, "activations", here, -1);
    between_passes(chain);
    forward_turns(chain, here).write();
    send(chain, "activations", here, 1);
  }

  void backward(Chain& chain, const At& here, bool inputs, bool weights) {
    if (inputs) {
      receive(chain, "gradients", here, 1);
      between_passes(chain);
    }
    backward_turns(chain, here, inputs, weights).write();
    if (inputs) { send(chain, "gradients", here, -1); }
  }

  /// Each computes while the other exchanges tokens.
  void side_by_side(const PipelineTask& task) {
    const At there = at(task.chunk);
    const At back = at(task.other_chunk);
    Chain other = chain_;
    receive(chain_, "activations", there, -1);
    receive(other, "gradients", back, 1);
    between_passes(chain_);
    PassTurns::write_by_turns(forward_turns(chain_, there), backward_turns(other, back, true, true));
    send(chain_, "activations", there, 1);
    send(other, "gradients", back, -1);
    for (const StageWriter::Number number : other.ends()) { chain_.wait_for(number); }
  }

  void add_up_embedding() {
    const std::uint32_t first = schedule_.stage_chunks.front().stage;
    const std::uint32_t last = schedule_.stage_chunks[schedule_.places() - 1].stage;
    if (pieces_.tied_embedding == Bytes::zero() || first == last || (stage_ != first && stage_ != last)) { return; }
    const Workload::Call call{.communicator = directory_.ends_of_pipeline(lane_),
                              .kind = CollectiveKind::all_reduce,
                              .size = pieces_.tied_embedding,
                              .type = plan_.gradient_bytes == 4 ? DataType::float32 : DataType::bfloat16};
    chain_.wait_for(
        writer_.call(writer_.stream("embedding"), "all-reduce of the embedding's gradients", call, chain_.ends()));
  }

  const ParallelPlan& plan_;
  const PipelineSchedule& schedule_;
  const StepPieces& pieces_;
  StepDirectory& directory_;
  StageWriter writer_;
  std::uint32_t lane_;
  std::uint32_t stage_;
  std::vector<std::uint32_t> entries_;                  ///< by chunk of a stage: into the schedule's stage_chunks
  bool host_lags_ = false;                              ///< somewhere on this stage
  std::optional<StageWriter::Number> dispatched_ = {};  ///< what the host did last
  Chain chain_;
  Chain::Communications communications_;
  std::vector<std::unique_ptr<DataParallel>> data_;  ///< by chunk
  std::vector<HostOffload> offload_;                 ///< by chunk
};

}  // namespace

Workload step_workload(const ParallelPlan& plan, const StepLanes& lanes, const std::vector<LaneStep>& steps) {
  require(steps.size() == lanes.all().size(), "{} lanes, of {}", steps.size(), lanes.all().size());
  Workload workload;
  StepDirectory directory(plan, *steps.front().schedule, lanes, workload);
  for (std::uint32_t lane = 0; lane < steps.size(); ++lane) {
    for (std::uint32_t stage = 0; stage < plan.pipeline; ++stage) {
      const StepPieces& pieces = *steps[lane].of_stage.at(stage);
      const PipelineSchedule& schedule = *steps[lane].schedule;
      require(pieces.places.size() == schedule.places() && pieces.optimizer.size() == schedule.stages,
              "pieces for {} places and {} stages, and the schedule has {} and {}", pieces.places.size(),
              pieces.optimizer.size(), schedule.places(), schedule.stages);
      StageSteps(plan, steps[lane], directory, workload, lane, stage).write();
    }
  }
  return workload;
}

Workload step_workload(const ParallelPlan& plan, const PipelineSchedule& schedule, const StepPieces& pieces) {
  return step_workload(plan, StepLanes(plan, {}),
                       {{&schedule, std::vector<const StepPieces*>(schedule.stages, &pieces)}});
}

}  // namespace athanor
