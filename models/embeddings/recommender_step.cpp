#include "models/embeddings/recommender_step.hpp"

#include <cmath>
#include <numeric>

#include <fmt/core.h>

#include "models/training/step/stage_writer.hpp"
#include "models/workload/uneven_exchange.hpp"

namespace athanor {

namespace {

using Number = StageWriter::Number;
using Numbers = StageWriter::Numbers;

DataType type_of(Precision precision) {
  switch (precision) {
    case Precision::fp16: return DataType::float16;
    case Precision::bf16: return DataType::bfloat16;
    default: return DataType::float32;
  }
}

Time over(double bytes, double rate) { return bytes > 0 ? Time{std::llround(bytes / rate * 1e12)} : Time::zero(); }

EndpointGroups group_of(std::uint32_t first, std::uint32_t count) {
  EndpointGroups groups(1);
  for (std::uint32_t i = 0; i < count; ++i) { groups.front().push_back(first + i); }
  return groups;
}

/// What is called in a step, by what it is for. Calls that nobody needs are none.
class StepCalls {
 public:
  using Maybe = std::optional<Workload::Call>;

  StepCalls(const RecommenderSetup& setup, RecommenderStep& step)
      : setup_(setup), grid_(setup.grid), workload_(step.workload), exchanges_(step.exchanges) {
    all_ = communicator("embeddings", Parallelism::embedding, 0, grid_.ranks);
    dense_ = communicator("dense", Parallelism::data, 0, grid_.ranks);
    const EmbeddingTraffic traffic(setup.model.tables, setup.shards, grid_, setup.numbers);
    const EmbeddingNumbers& numbers = setup.numbers;
    indices = exchange(traffic.indices());
    if (indices) { indices->communicator = communicator("indices", Parallelism::embedding, 0, grid_.ranks); }
    pooled = exchange(traffic.pooled());
    pooled_gradients = exchange(traffic.pooled_gradients());
    scatter_rows = on_all(CollectiveKind::reduce_scatter, traffic.row_wise_elements(), numbers.pooled);
    gather_rows = on_all(CollectiveKind::all_gather, traffic.row_wise_elements(), numbers.gradients);
    between_nodes = exchange(traffic.between_nodes());
    gradients_between_nodes = exchange(traffic.gradients_between_nodes());
    add_nodes(traffic);
    top = reduced(top_parameters(setup.model));
    bottom = reduced(bottom_parameters(setup.model));
    copied = reduced(copied_elements());
  }

  Maybe indices;
  Maybe pooled;
  Maybe pooled_gradients;
  Maybe scatter_rows;  ///< of row_wise tables
  Maybe gather_rows;   ///< their gradients
  Maybe between_nodes;
  Maybe gradients_between_nodes;
  std::vector<Maybe> scatter_in_node;  ///< by node
  std::vector<Maybe> gather_in_node;
  Maybe top;     ///< gradients of what is behind the exchange
  Maybe bottom;  ///< of what is before
  Maybe copied;  ///< of data_parallel tables

 private:
  std::uint32_t communicator(std::string name, Parallelism use, std::uint32_t first, std::uint32_t count) {
    std::vector<std::uint32_t> workers(count);
    std::iota(workers.begin(), workers.end(), first);
    workload_.communicators.push_back(
        {std::move(name), use, std::move(workers), std::make_shared<const EndpointGroups>(group_of(first, count))});
    return static_cast<std::uint32_t>(workload_.communicators.size() - 1);
  }

  /// In bytes. One that is alike for all ranks is an all-to-all.
  Maybe exchange(std::shared_ptr<const AllToAllVSizes> sizes) {
    if (sizes == nullptr || grid_.ranks == 1 || sizes->exchanged() == Elements::zero()) { return std::nullopt; }
    Workload::Call call;
    call.communicator = all_;
    call.kind = CollectiveKind::all_to_all_v;
    call.type = DataType::int8;
    const Elements block = sizes->size(0, 0);
    bool alike = true;
    for (std::uint32_t from = 0; alike && from < grid_.ranks; ++from) {
      for (std::uint32_t to = 0; alike && to < grid_.ranks; ++to) { alike = sizes->size(from, to) == block; }
    }
    if (alike) {
      call.kind = CollectiveKind::all_to_all;
      call.size = Bytes{block.count()} * grid_.ranks;
      return call;
    }
    call.size = Bytes{sizes->largest().count()};
    call.root = static_cast<std::uint32_t>(exchanges_.size());
    exchanges_.push_back(std::move(sizes));
    return call;
  }

  Maybe on_all(CollectiveKind kind, std::int64_t elements, Precision precision) const {
    if (elements == 0 || grid_.ranks == 1) { return std::nullopt; }
    const DataType type = type_of(precision);
    return Workload::Call{.communicator = all_, .kind = kind, .size = size_of(type) * elements, .type = type};
  }

  void add_nodes(const EmbeddingTraffic& traffic) {
    scatter_in_node.resize(grid_.nodes());
    gather_in_node.resize(grid_.nodes());
    if (grid_.per_node == 1 || !traffic.has_node_shards()) { return; }
    for (std::uint32_t node = 0; node < grid_.nodes(); ++node) {
      const std::int64_t elements = traffic.node_elements(node);
      if (elements == 0) { continue; }
      const std::uint32_t within = communicator(fmt::format("embeddings of node {}", node), Parallelism::embedding,
                                                node * grid_.per_node, grid_.per_node);
      scatter_in_node[node] = on_all(CollectiveKind::reduce_scatter, elements, setup_.numbers.pooled);
      scatter_in_node[node]->communicator = within;
      gather_in_node[node] = on_all(CollectiveKind::all_gather, elements, setup_.numbers.gradients);
      gather_in_node[node]->communicator = within;
    }
  }

  Maybe reduced(double elements) const {
    if (elements == 0 || grid_.ranks == 1) { return std::nullopt; }
    const DataType type = DataType::float32;
    return Workload::Call{.communicator = dense_,
                          .kind = CollectiveKind::all_reduce,
                          .size = size_of(type) * static_cast<std::int64_t>(elements),
                          .type = type};
  }

  double copied_elements() const {
    double sum = 0;
    for (const TableShard& shard : setup_.shards) {
      if (shard.sharding != TableSharding::data_parallel) { continue; }
      sum += static_cast<double>(setup_.model.tables[shard.table].rows) * shard.width;
    }
    return sum;
  }

  const RecommenderSetup& setup_;
  EmbeddingGrid grid_;
  Workload& workload_;
  std::vector<std::shared_ptr<const AllToAllVSizes>>& exchanges_;
  std::uint32_t all_ = 0;
  std::uint32_t dense_ = 0;
};

class RankWriter {
 public:
  RankWriter(Workload& workload, std::uint32_t rank, const RecommenderSetup& setup, const StepCalls& calls,
             const DenseKernels& dense, const EmbeddingTimes& times)
      : setup_(setup), calls_(calls), dense_(dense), times_(times), writer_(workload, rank) {
    node_ = setup.grid.node_of(rank);
    exchange_ = writer_.stream("embeddings");
    reduce_ = writer_.stream("dense");
    ahead_ = setup.pipeline == BatchPipeline::none ? exchange_ : writer_.stream("next batch");
  }

  void write() {
    const Numbers looked_up = look_up();
    const Numbers pooled = pool(looked_up);
    compute(dense_.bottom_forward, {});
    compute(dense_.top_forward, pooled);
    compute(dense_.top_backward, {});
    const Numbers met = last_;
    const Number top = call(reduce_, "top gradients", calls_.top, met);
    const Numbers back = spread_gradients(met);
    compute(dense_.bottom_backward, {});
    call(reduce_, "bottom gradients", calls_.bottom, last_);
    if (has_tables()) { last_ = {writer_.compute("table update", times_.backward, back)}; }
    const Number reduced = call(reduce_, "gradients of copied tables", calls_.copied, last_);
    compute(dense_.update, reduced_by(top, reduced));
  }

 private:
  static constexpr Number kNone = UINT32_MAX;

  bool has_tables() const { return times_.forward > Time::zero() || times_.backward > Time::zero(); }

  Number call(std::uint16_t stream, const char* label, const StepCalls::Maybe& what, const Numbers& after) {
    if (!what) { return kNone; }
    return last_call_ = writer_.call(stream, label, *what, after);
  }

  /// All reductions are in one stream, so that the last one counts.
  Numbers reduced_by(Number top, Number last) const {
    if (last != kNone) { return {last}; }
    if (calls_.bottom) { return {last_call_}; }
    return top == kNone ? Numbers{} : Numbers{top};
  }

  void compute(const Kernels& kernels, Numbers after) {
    for (const Kernel& kernel : kernels) {
      last_ = {writer_.compute(kernel.label, time_of(kernel, setup_.gpu, setup_.compute), after)};
      after.clear();
    }
  }

  /// What the look-up has to wait for, which is the batch before where batches overlap.
  Numbers look_up() {
    const bool ahead = setup_.pipeline != BatchPipeline::none;
    Numbers ready;
    if (setup_.input_bytes > 0) {
      ready = {writer_.copy("inputs", over(setup_.input_bytes, setup_.gpu.host_bandwidth), {})};
    }
    const Number indices = call(ahead_, "indices", calls_.indices, ready);
    if (indices != kNone) { ready = {indices}; }
    if (ahead) { ready.clear(); }
    if (times_.fetch > Time::zero()) {
      const bool beside = setup_.pipeline == BatchPipeline::prefetch;
      const Number fetch = writer_.copy("rows of tables", times_.fetch, ready);
      if (!beside) { ready = {fetch}; }
    }
    if (!has_tables()) { return ready; }
    last_ = {writer_.compute("look-up", times_.forward, ready)};
    return last_;
  }

  Numbers pool(const Numbers& looked_up) {
    Numbers ready;
    const auto add = [&](const char* label, const StepCalls::Maybe& what, const Numbers& after) {
      const Number number = call(exchange_, label, what, after);
      if (number != kNone) { ready.push_back(number); }
      return number;
    };
    add("pooled vectors", calls_.pooled, looked_up);
    add("sums of rows", calls_.scatter_rows, looked_up);
    const Number within = add("sums in the node", calls_.scatter_in_node[node_], looked_up);
    add("pooled vectors between nodes", calls_.between_nodes, within == kNone ? looked_up : Numbers{within});
    return ready.empty() ? looked_up : ready;
  }

  /// The way back. What updates rows has to wait for.
  Numbers spread_gradients(const Numbers& met) {
    Numbers ready;
    const auto add = [&](const char* label, const StepCalls::Maybe& what, const Numbers& after) {
      const Number number = call(exchange_, label, what, after);
      if (number != kNone) { ready.push_back(number); }
      return number;
    };
    add("pooled gradients", calls_.pooled_gradients, met);
    add("gradients of rows", calls_.gather_rows, met);
    const Number between = add("gradients between nodes", calls_.gradients_between_nodes, met);
    add("gradients in the node", calls_.gather_in_node[node_], between == kNone ? met : Numbers{between});
    return ready;
  }

  const RecommenderSetup& setup_;
  const StepCalls& calls_;
  const DenseKernels& dense_;
  const EmbeddingTimes& times_;
  StageWriter writer_;
  std::uint32_t node_ = 0;
  std::uint16_t exchange_ = 0;
  std::uint16_t reduce_ = 0;
  std::uint16_t ahead_ = 0;
  Numbers last_;
  Number last_call_ = kNone;
};

}  // namespace

std::string_view name(BatchPipeline pipeline) {
  switch (pipeline) {
    case BatchPipeline::none: return "none";
    case BatchPipeline::sparse_dist: return "sparse_dist";
    case BatchPipeline::prefetch: return "prefetch";
  }
  return "";
}

std::vector<EmbeddingTimes> embedding_times(const RecommenderSetup& setup) {
  const double bandwidth = setup.gpu.memory_bandwidth * setup.stream_share;
  const double host = setup.gpu.host_bandwidth;
  const Time overhead = setup.compute.overhead;
  std::vector<EmbeddingTimes> times;
  for (const EmbeddingBytes& bytes : embedding_bytes(setup.model.tables, setup.shards, setup.grid, setup.numbers)) {
    EmbeddingTimes& own = times.emplace_back();
    if (bytes.forward + bytes.backward == 0) { continue; }
    own.forward = over(bytes.forward, bandwidth) + over(bytes.host_forward, host) + overhead;
    own.backward = over(bytes.backward, bandwidth) + over(bytes.host_backward, host) + overhead;
    own.fetch = over(bytes.host_fetch, host);
  }
  return times;
}

RecommenderStep step_of(const RecommenderSetup& described) {
  RecommenderSetup setup = described;
  setup.compute.waves = 0;
  RecommenderStep step;
  step.workload.workers.resize(setup.grid.ranks);
  const StepCalls calls(setup, step);
  const auto samples = static_cast<double>(setup.grid.own_batch());
  const DenseKernels dense = dense_kernels(setup.model, samples, setup.precision, setup.fused);
  const std::vector<EmbeddingTimes> times = embedding_times(setup);
  for (std::uint32_t rank = 0; rank < setup.grid.ranks; ++rank) {
    step.workload.workers[rank].name = fmt::format("GPU {}", rank);
    RankWriter(step.workload, rank, setup, calls, dense, times[rank]).write();
  }
  return step;
}

StepEstimates::StepEstimates(const RecommenderStep& step, const PricingSettings& settings, CollectiveTimer& timer) {
  const Workload& workload = step.workload;
  uneven_.reserve(step.exchanges.size());
  for (const auto& sizes : step.exchanges) {
    const EndpointGroups& groups = *workload.communicators.front().groups;
    uneven_.push_back(estimate_of_exchange(settings, timer, groups.front(), sizes));
  }
  for (const Workload::Call& call : workload.calls) {
    const bool uneven = call.kind == CollectiveKind::all_to_all_v;
    all_.of_call.push_back(static_cast<std::uint32_t>(all_.estimates.size()));
    all_.estimates.push_back(uneven ? &uneven_[call.root] : &timer.estimate(workload, call));
  }
}

Workload with_even_exchanges(RecommenderStep step) {
  for (Workload::Call& call : step.workload.calls) {
    if (call.kind != CollectiveKind::all_to_all_v) { continue; }
    call.kind = CollectiveKind::all_to_all;
    call.size = Bytes{step.exchanges[call.root]->exchanged().count()};
    call.root = 0;
  }
  return std::move(step.workload);
}

}  // namespace athanor
