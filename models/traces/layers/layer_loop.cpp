#include "models/traces/layers/layer_loop.hpp"

#include <fmt/core.h>

#include "models/traces/program_draft.hpp"
#include "models/traces/trace_options.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

class LayerLoop {
 public:
  LayerLoop(const LayerList& list, const TraceOptions& options, WorkloadDraft& draft)
      : list_(list), options_(options), draft_(draft), program_(list.file, "all ranks") {
    program_.worker().ranks = list.ranks;
    compute_ = program_.stream("compute", true);
    for (const LayerList::Group& group : list.groups) {
      Workload::Communicator communicator{.name = group.name, .use = group.use, .workers = {0}, .groups = {}};
      communicator.groups = std::make_shared<const EndpointGroups>(group.ranks);
      communicators_.push_back(draft.communicator(std::move(communicator)));
    }
  }

  void run() && {
    for (const LayerList::Layer& layer : list_.layers) { forward(layer, "forward"); }
    pass_on("activations", true);
    if (list_.input_gradient != LayerList::InputGradient::none) {
      for (std::size_t i = list_.layers.size(); i-- > 0;) { backward(i); }
      pass_on("gradients", false);
    }
    const Time bubble = scaled_up(computed_, list_.pipeline.bubble);
    if (bubble > Time::zero()) { compute(bubble, "bubble of the pipeline"); }
    std::move(program_).finish(draft_, false);
  }

 private:
  /// Layers that are computed once more can be asked for by a few words each, and each does so for all before it.
  void check_count() const {
    if (next_ < kMostWrittenOut) { return; }
    throw ScenarioError(Problem{"too-many-operations",
                                fmt::format("the layers and their repetitions are more than {} operations", next_),
                                {list_.file, 1, 1, ""},
                                "are all checkpoints named? Layers are computed once more from the one before them"});
  }

  std::uint64_t add(Workload::Operation operation, const std::string& label) {
    check_count();
    operation.label = draft_.label(label);
    program_.add(next_, operation);
    return next_++;
  }

  void wait_for(std::optional<std::uint64_t>& node) {
    if (node) { program_.depends(*node); }
    node.reset();
  }

  std::uint64_t compute(Time time, const std::string& label) {
    Workload::Operation operation;
    operation.kind = time > Time::zero() ? Workload::Kind::compute : Workload::Kind::mark;
    operation.time = time;
    operation.stream = compute_;
    computed_ += time;
    const std::uint64_t node = add(operation, label);
    wait_for(waited_for_);
    return node;
  }

  /// None: it takes no time.
  std::optional<std::uint64_t> communicate(const LayerList::Pass& pass, const std::string& label, std::uint64_t after) {
    if (!pass.communication) { return std::nullopt; }
    const LayerList::Communication& wanted = *pass.communication;
    Workload::Call call;
    call.communicator = communicators_[wanted.group];
    call.kind = wanted.kind;
    call.size = wanted.size;
    call.type = WorkloadDraft::type_for(wanted.size);
    Workload::Operation operation = draft_.call_operation(call);
    if (operation.kind == Workload::Kind::mark) { return std::nullopt; }
    operation.stream = program_.stream(list_.groups[wanted.group].name, true);
    const std::uint64_t node = add(operation, label);
    program_.depends(after);
    return node;
  }

  std::uint64_t compute_pass(const LayerList::Layer& layer, const LayerList::Pass& pass, const char* what) {
    return compute(scaled_up(pass.time, options_.compute_scale), fmt::format("{} {}", layer.name, what));
  }

  void forward(const LayerList::Layer& layer, const char* what) {
    const std::uint64_t done = compute_pass(layer, layer.forward, what);
    waited_for_ = communicate(layer.forward, layer.name + " forward communication", done);
  }

  void backward(std::size_t index) {
    const LayerList::Layer& layer = list_.layers[index];
    if (layer.recomputes) { recompute(index); }
    if (list_.input_gradient == LayerList::InputGradient::after) {
      weight_gradient(layer);
      if (index > 0) { compute_pass(layer, layer.input_gradient, "input gradient"); }
      return;
    }
    const bool beside = list_.input_gradient == LayerList::InputGradient::beside;
    const std::uint64_t done = compute_pass(layer, layer.input_gradient, "input gradient");
    auto communication = beside && index == 0
                             ? std::nullopt
                             : communicate(layer.input_gradient, layer.name + " input gradient communication", done);
    if (!beside) { waited_for_ = communication; }
    weight_gradient(layer);
    if (beside) { waited_for_ = communication; }
  }

  void recompute(std::size_t index) {
    std::size_t first = index;
    while (first > 0 && !list_.layers[first].checkpoint) { --first; }
    for (std::size_t i = first; i < index; ++i) { forward(list_.layers[i], "forward once more"); }
  }

  void weight_gradient(const LayerList::Layer& layer) {
    const std::uint64_t done = compute_pass(layer, layer.weight_gradient, "weight gradient");
    const auto communication = communicate(layer.weight_gradient, layer.name + " weight gradient communication", done);
    const Time update = scaled_up(layer.update, options_.compute_scale);
    if (update == Time::zero()) { return; }
    Workload::Operation operation;
    operation.kind = Workload::Kind::compute;
    operation.time = update;
    operation.stream = program_.stream("update", false);
    add(operation, layer.name + " update");
    program_.depends(communication.value_or(done));
  }

  /// Round a ring of stages: worker 0 is both the sender and the receiver.
  void pass_on(const char* what, bool forward) {
    const LayerList::Pipeline& pipeline = list_.pipeline;
    if (pipeline.stages < 2 || pipeline.messages == 0) { return; }
    const std::uint32_t channel = channel_of(what, forward);
    for (std::uint64_t i = 0; i < pipeline.messages; ++i) {
      const std::uint64_t begin = compute(Time::zero(), what);
      Workload::Operation operation;
      operation.kind = Workload::Kind::send;
      operation.subject = channel;
      operation.size = pipeline.size;
      operation.stream = program_.stream(fmt::format("send {}", what), true);
      add(operation, fmt::format("send {}", what));
      program_.depends(begin);
      operation.kind = Workload::Kind::receive;
      operation.stream = program_.stream(fmt::format("receive {}", what), true);
      waited_for_ = add(operation, fmt::format("receive {}", what));
      program_.depends(begin);
    }
  }

  /// Stage s holds ranks [s, s + 1) x ranks / stages. Each sends to the next stage, or to the one before.
  std::uint32_t channel_of(const char* what, bool forward) {
    EndpointGroups pairs;
    const std::uint32_t stages = list_.pipeline.stages;
    const std::uint32_t each = list_.ranks / stages;
    for (std::uint32_t rank = 0; rank < list_.ranks; ++rank) {
      const std::uint32_t stage = rank / each;
      if (forward ? stage + 1 == stages : stage == 0) { continue; }
      pairs.push_back({rank, forward ? rank + each : rank - each});
    }
    draft_.workload.channels.push_back({.name = fmt::format("{} between stages", what),
                                        .use = Parallelism::pipeline,
                                        .from = 0,
                                        .to = 0,
                                        .pairs = std::make_shared<const EndpointGroups>(std::move(pairs))});
    return static_cast<std::uint32_t>(draft_.workload.channels.size()) - 1;
  }

  const LayerList& list_;
  const TraceOptions& options_;
  WorkloadDraft& draft_;
  ProgramDraft program_;
  std::vector<std::uint32_t> communicators_;
  std::uint16_t compute_ = 0;
  std::uint64_t next_ = 0;
  std::optional<std::uint64_t> waited_for_;  ///< by the next computation
  Time computed_;
};

}  // namespace

void add_layers(const LayerList& list, const TraceOptions& options, WorkloadDraft& draft) {
  LayerLoop(list, options, draft).run();
}

EndpointGroups strided_groups(std::uint32_t ranks, std::uint32_t size, std::uint32_t stride) {
  const std::uint32_t block = size * stride;
  require(block > 0 && ranks % block == 0, "groups of {} ranks, {} apart, of {}", size, stride, ranks);
  EndpointGroups groups;
  for (std::uint32_t first = 0; first < ranks; ++first) {
    if (first % block >= stride) { continue; }
    std::vector<std::uint32_t> group(size);
    for (std::uint32_t i = 0; i < size; ++i) { group[i] = first + i * stride; }
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace athanor
