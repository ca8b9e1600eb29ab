#include "models/training/step/data_parallel.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/training/low_rank_share.hpp"
#include "models/training/parameter_share.hpp"
#include "models/training/step/coded_calls.hpp"

namespace athanor {

namespace {

Bytes bytes(double parameters, double of_each) {
  return Bytes{static_cast<std::int64_t>(std::ceil(parameters * of_each))};
}

}  // namespace

DataParallel::DataParallel(const ParallelPlan& plan, StageWriter& writer, const ChunkPieces& chunk,
                           std::uint32_t micro_batches, DataGroups dense, DataGroups experts, const CodingRate& coding,
                           const std::string& name)
    : plan_(plan),
      writer_(writer),
      chunk_(chunk),
      coding_(coding),
      micro_batches_(micro_batches),
      kinds_{{dense, &LayerPieces::dense_parameters, &LayerPieces::frozen_dense},
             {experts, &LayerPieces::expert_parameters, &LayerPieces::frozen_experts}},
      gather_stream_(writer.stream("DP gather" + name)),
      reduce_stream_(writer.stream("DP reduce" + name)),
      done_(chunk.layers.size()),
      in_buckets_(chunk.layers.size()),
      gathered_(chunk.layers.size()),
      requested_(chunk.layers.size()) {}

double DataParallel::total(const Kind& kind) const {
  double sum = 0;
  for (const LayerPieces& layer : chunk_.layers) { sum += layer.*kind.parameters; }
  return sum;
}

double DataParallel::total_bytes(const Kind& kind) const {
  double sum = 0;
  for (const LayerPieces& layer : chunk_.layers) { sum += gathered_bytes(kind, layer); }
  return sum;
}

double DataParallel::gathered_bytes(const Kind& kind, const LayerPieces& layer) const {
  const bool frozen = gathers_for_each_use() || plan_.has_one_process();
  return layer.*kind.parameters * layer.parameter_bytes + (frozen ? layer.*kind.frozen : 0);
}

DataParallel::Number DataParallel::gather(const Kind& kind, double all_bytes, const StageWriter::Numbers& after) {
  const Workload::Call call{.communicator = kind.groups.shard,
                            .kind = CollectiveKind::all_gather,
                            .size = bytes(all_bytes, 1),
                            .type = DataType::bfloat16};
  return writer_.call(gather_stream_, "all-gather of parameters", call, after);
}

CodingPlace DataParallel::place_of(const Kind& kind) const {
  return {static_cast<double>(kind.groups.shard_ranks), static_cast<double>(kind.groups.node_ranks),
          static_cast<double>(plan_.gradient_bytes)};
}

GradientPart DataParallel::part_of(const Kind& kind, std::size_t layer, double parameters) const {
  const LayerPieces& own = chunk_.layers[layer];
  if (plan_.compression.kind != CompressionKind::power_sgd || own.*kind.parameters == 0) { return {parameters}; }
  const bool experts = kind.parameters == &LayerPieces::expert_parameters;
  const LowRank all = low_rank_share(plan_.compression, matrices_of({0, 0, own.matrices}, experts));
  return {parameters, times(all, parameters / (own.*kind.parameters))};
}

/// As reduce(), compressed.
StageWriter::Numbers DataParallel::coded(const Kind& kind, const GradientPart& part,
                                         const StageWriter::Numbers& after) {
  const bool shards = plan_.sharding != Sharding::none;
  const auto sum = shards ? &coded_reduce_scatter : &coded_all_reduce;
  const CodingPlace place = place_of(kind);
  StageWriter::Numbers last = after;
  if (kind.groups.shard_ranks > 1) {
    last = write_coded(writer_, reduce_stream_, sum(plan_.compression, part, place),
                       {kind.groups.shard, kind.groups.node, kind.groups.nodes}, coding_, last);
  }
  if (!shards || kind.groups.replicas == 1) { return last; }
  CodingPlace copies = place;
  copies.ranks = kind.groups.replicas;
  return write_coded(writer_, reduce_stream_, coded_all_reduce(plan_.compression, times(part, 1 / place.ranks), copies),
                     {.all = kind.groups.replicate}, coding_, last);
}

/// Several copies of sharded parameters: first within a copy, then the same parts of all copies.
void DataParallel::reduce(Kind& kind, const GradientPart& part, const StageWriter::Numbers& after) {
  const Compression& compression = plan_.compression;
  if (compression.is_on() && (compression.kind != CompressionKind::zero_plus_plus || compression.quantized_gradients)) {
    StageWriter::Numbers last = coded(kind, part, after);
    if (kind.groups.shard_ranks > 1 || kind.groups.replicas > 1) { reductions_ = std::move(last); }
    return;
  }
  const double parameters = part.numbers;
  const DataType type = plan_.gradient_bytes == 4 ? DataType::float32 : DataType::bfloat16;
  const bool shards = plan_.sharding != Sharding::none;
  Workload::Call call{.communicator = kind.groups.shard,
                      .kind = shards ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce,
                      .size = bytes(parameters, plan_.gradient_bytes),
                      .type = type};
  StageWriter::Numbers last = after;
  if (kind.groups.shard_ranks > 1) {
    last = {
        writer_.call(reduce_stream_, shards ? "reduce-scatter of gradients" : "all-reduce of gradients", call, last)};
    reductions_ = last;
  }
  if (!shards || kind.groups.replicas == 1) { return; }
  call.communicator = kind.groups.replicate;
  call.kind = CollectiveKind::all_reduce;
  call.size = bytes(parameters / kind.groups.shard_ranks, plan_.gradient_bytes);
  reductions_ = {writer_.call(reduce_stream_, "all-reduce of gradients", call, last)};
}

void DataParallel::begin() {
  if (plan_.sharding == Sharding::gradients && !plan_.gather_again && plan_.overlap_parameters) {
    for (std::size_t layer = 0; layer < chunk_.layers.size(); ++layer) {
      gather_layer({}, layer, false, gathered_[layer]);
    }
    return;
  }
  if (plan_.sharding != Sharding::optimizer || !plan_.overlap_parameters) { return; }
  for (const Kind& kind : kinds_) {
    if (kind.groups.shard_ranks == 1) { continue; }
    double parameters = 0;
    double all_bytes = 0;
    std::size_t first = 0;
    for (std::size_t layer = 0; layer < chunk_.layers.size(); ++layer) {
      const LayerPieces& own = chunk_.layers[layer];
      parameters += own.*kind.parameters;
      all_bytes += own.*kind.parameters * own.parameter_bytes;
      const bool full = bytes(parameters, plan_.gradient_bytes) >= plan_.bucket;
      if (parameters == 0 || (!full && layer + 1 < chunk_.layers.size())) { continue; }
      const Number number = gather(kind, all_bytes, {});
      for (; first <= layer; ++first) { gathered_[first].push_back(number); }
      parameters = all_bytes = 0;
    }
  }
}

StageWriter::Numbers DataParallel::listed(const Kind& kind, const StageWriter::Numbers& after) {
  if (plan_.host_per_rank == Time::zero()) { return after; }
  StageWriter::Numbers all = after;
  all.insert(all.end(), last_call_.begin(), last_call_.end());
  return {writer_.host("lists of ranks", plan_.host_per_rank * kind.groups.shard_ranks, all)};
}

/// hpZ: backward's parameters are on the node, in a copy that forward has left there.
DataParallel::Number DataParallel::gather_unit(const Kind& kind, double all_bytes, double of_each, bool backward,
                                               const StageWriter::Numbers& after) {
  const Compression& compression = plan_.compression;
  const DataGroups& groups = kind.groups;
  if (!compression.quantized_weights && !compression.secondary_weights) { return gather(kind, all_bytes, after); }
  CodingStages stages;
  if (backward && compression.secondary_weights) {
    stages = {{.call = CodedCall{"all-gather within nodes", CollectiveKind::all_gather, all_bytes, DataType::bfloat16,
                                 CodedGroup::node}}};
    return write_coded(writer_, gather_stream_, stages, {groups.shard, groups.node, groups.nodes}, coding_, after)
        .front();
  }
  if (compression.quantized_weights) { stages = coded_gather(compression, all_bytes, of_each, place_of(kind)); }
  StageWriter::Numbers last = after;
  if (stages.empty()) { last = {gather(kind, all_bytes, after)}; }
  if (compression.secondary_weights) { stages.push_back({"secondary copy", 2 * all_bytes / groups.node_ranks, 1}); }
  return write_coded(writer_, gather_stream_, stages, {.all = groups.shard}, coding_, last).front();
}

void DataParallel::gather_layer(const StageWriter::Numbers& after, std::size_t layer, bool backward,
                                std::vector<Number>& gathered) {
  if (requested_[layer]) { return; }
  requested_[layer] = true;
  for (const Kind& kind : kinds_) {
    const double all_bytes = gathered_bytes(kind, chunk_.layers[layer]);
    if (all_bytes == 0 || kind.groups.shard_ranks == 1) { continue; }
    for (std::uint32_t i = 0; i < plan_.shard_calls; ++i) {
      gathered.push_back(gather_unit(kind, all_bytes / plan_.shard_calls, chunk_.layers[layer].parameter_bytes,
                                     backward, listed(kind, after)));
      last_call_ = {gathered.back()};
    }
  }
}

void DataParallel::wait(Chain& chain, std::vector<Number>& gathered) {
  for (const Number number : std::exchange(gathered, {})) { chain.wait_for(number); }
}

void DataParallel::with_the_first(Chain& chain, const std::string& label, CollectiveKind kind, Bytes size,
                                  DataType type) {
  const DataGroups& groups = kinds_.front().groups;
  if (groups.shard_ranks == 1 || size == Bytes::zero()) { return; }
  const Workload::Call call{.communicator = groups.shard, .kind = kind, .size = size, .type = type};
  chain.wait_for(writer_.call(reduce_stream_, label, call, chain.ends()));
}

double DataParallel::total() const {
  double sum = 0;
  for (const Kind& kind : kinds_) { sum += total(kind); }
  return sum;
}

double DataParallel::total_bytes() const {
  double sum = 0;
  for (const Kind& kind : kinds_) { sum += total_bytes(kind); }
  return sum;
}

/// DataParallel.forward: scatter, then replicate.
void DataParallel::scatter_and_replicate(Chain& chain) {
  if (chunk_.inputs > Time::zero()) { chain.wait_for(writer_.copy("of inputs", chunk_.inputs, chain.ends())); }
  with_the_first(chain, "broadcast of parameters", CollectiveKind::broadcast, bytes(total_bytes(), 1),
                 DataType::bfloat16);
}

void DataParallel::before_forward(Chain& chain, std::size_t layer) {
  if (plan_.has_one_process() && layer == 0) { scatter_and_replicate(chain); }
  if (gathers_layers()) {
    const StageWriter::Numbers now = chain.ends();
    const std::size_t last = std::min(layer + plan_.prefetch, chunk_.layers.size() - 1);
    for (std::size_t each = layer; each <= last; ++each) { gather_layer(now, each, false, gathered_[each]); }
  }
  wait(chain, gathered_[layer]);
}

void DataParallel::after_forward(Chain& chain, std::size_t layer) {
  if (plan_.has_one_process() && layer + 1 == layers_of_all()) {
    with_the_first(chain, "gather of outputs", CollectiveKind::gather,
                   chunk_.output * kinds_.front().groups.shard_ranks, DataType::bfloat16);
  }
  if (gathers_for_each_use()) { requested_[layer] = false; }
}

void DataParallel::before_backward(Chain& chain, std::size_t layer) {
  if (plan_.has_one_process() && layer + 1 == layers_of_all()) {
    with_the_first(chain, "scatter of their gradients", CollectiveKind::scatter,
                   chunk_.output * kinds_.front().groups.shard_ranks, DataType::bfloat16);
  }
  if (plan_.sharding != Sharding::parameters) { return; }
  const StageWriter::Numbers now = chain.ends();
  const std::size_t last = layer - std::min<std::size_t>(layer, plan_.prefetch);
  for (std::size_t each = layer + 1; each-- > last;) { gather_layer(now, each, true, gathered_[each]); }
  wait(chain, gathered_[layer]);
}

void DataParallel::after_recompute(Chain& chain, std::size_t layer) {
  if (plan_.sharding != Sharding::parameters || !plan_.gather_again) { return; }
  requested_[layer] = false;
  before_backward(chain, layer);
}

void DataParallel::after_backward(Chain& chain, std::size_t layer) {
  if (plan_.has_one_process()) {
    if (layer > 0) { return; }
    const DataType type = plan_.gradient_bytes == 4 ? DataType::float32 : DataType::bfloat16;
    return with_the_first(chain, "reduce of gradients", CollectiveKind::reduce, bytes(total(), plan_.gradient_bytes),
                          type);
  }
  if (plan_.sharding == Sharding::parameters) { requested_[layer] = false; }
  const bool last = ++done_[layer] == micro_batches_;
  for (Kind& kind : kinds_) {
    const double own = chunk_.layers[layer].*kind.parameters;
    if (gathers_layers()) {
      if (!last && done_[layer] % plan_.reduce_every != 0) { continue; }
      for (std::uint32_t i = 0; own > 0 && i < plan_.shard_calls; ++i) {
        reduce(kind, part_of(kind, layer, own / plan_.shard_calls), listed(kind, chain.ends()));
        last_call_ = reductions_;
      }
      continue;
    }
    if (!last) { continue; }
    const bool dense = kind.parameters == &LayerPieces::dense_parameters;
    put_into_bucket(kind, part_of(kind, layer, own - (dense ? in_buckets_[layer] : 0)), chain);
  }
}

void DataParallel::put_into_bucket(Kind& kind, const GradientPart& part, const Chain& chain) {
  kind.waiting += part;
  const bool full = bytes(kind.waiting.numbers, plan_.gradient_bytes) >= plan_.bucket;
  if (plan_.overlap_gradients && full) { reduce(kind, std::exchange(kind.waiting, {}), chain.ends()); }
}

void DataParallel::during_backward(const Chain& chain, std::size_t layer, double parameters) {
  const bool last = done_[layer] + 1 == micro_batches_;
  if (gathers_layers() || plan_.has_one_process() || !last) { return; }
  in_buckets_[layer] += parameters;
  put_into_bucket(kinds_.front(), part_of(kinds_.front(), layer, parameters), chain);
}

StageWriter::Numbers DataParallel::finish(const Chain& chain) {
  for (Kind& kind : kinds_) {
    if (kind.waiting.numbers > 0) { reduce(kind, std::exchange(kind.waiting, {}), chain.ends()); }
  }
  return reductions_;
}

void DataParallel::after_optimizer(const Chain& chain) {
  if (plan_.sharding != Sharding::optimizer || plan_.overlap_parameters) { return; }
  for (const Kind& kind : kinds_) {
    const double all_bytes = total_bytes(kind);
    if (all_bytes > 0 && kind.groups.shard_ranks > 1) { gather(kind, all_bytes, chain.ends()); }
  }
}

}  // namespace athanor
