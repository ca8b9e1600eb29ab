#include "models/serving/iteration_time.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <unordered_map>
#include <utility>

#include "models/training/layer_work.hpp"
#include "models/training/work_parts.hpp"

namespace athanor {

GridPlace grid_place(std::uint32_t n) {
  constexpr std::uint32_t kEach = 8;
  if (n <= kEach) { return {n, n}; }
  const std::uint32_t step = std::bit_floor(n) / 4;
  const std::uint32_t below = n / step * step;
  return {below, below == n ? n : below + step};
}

namespace {

constexpr std::int64_t kWide = 2;          ///< bytes of a number in 16 bits
constexpr double kAttentionFilling = 175;  ///< as of forward in training (attention_work.cpp)

/// Of attention and logits.
Precision wide(const ServedModel& served) {
  return served.precision == Precision::fp16 ? Precision::fp16 : Precision::bf16;
}

/// What one GPU has of attention, of all layers.
struct AttentionShare {
  double pair = 0;  ///< elements that a query and a kept token multiply: of keys, then of values
  double kept = 0;  ///< bytes of a kept token
  double own = 0;   ///< bytes of a token's queries and outputs, in 16 bits
  double head = 0;  ///< elements
};

AttentionShare share_of(const ServedModel& served, double key, double value) {
  const double heads = static_cast<double>(served.model.layers) * served.model.attention.heads / served.tensor;
  return {heads * (key + value), kept_bytes(served), heads * (key + value) * kWide, (key + value) / 2};
}

/// Of chunks: latent keys and values are expanded.
AttentionShare chunk_share(const ServedModel& served) {
  const Attention& attention = served.model.attention;
  return share_of(served, static_cast<double>(attention.head_size) + attention.rotary_size, attention.value_size);
}

/// Of single tokens: latent queries are brought to what is kept.
AttentionShare decode_share(const ServedModel& served) {
  const Attention& attention = served.model.attention;
  if (attention.kind != Attention::Kind::latent) { return chunk_share(served); }
  return share_of(served, static_cast<double>(attention.kv_rank) + attention.rotary_size, attention.kv_rank);
}

/// Operations on a kept token before a chunk, whose keys and values are made of what is kept of it.
double expansion(const ServedModel& served) {
  const Attention& attention = served.model.attention;
  if (attention.kind != Attention::Kind::latent) { return 0; }
  const double heads = static_cast<double>(served.model.layers) * attention.heads / served.tensor;
  return 2 * heads * attention.kv_rank * (static_cast<double>(attention.head_size) + attention.value_size);
}

/// Of what reads weights or kept tokens.
Time streamed_time(const Kernel& kernel, const IterationParts& parts) {
  ComputeProfile streaming = parts.compute;
  streaming.memory = parts.streamed;
  return time_of(kernel, parts.gpu, streaming);
}

/// Of attention its overhead alone: what tokens attend to is not known here.
Time time_in_layer(const Kernel& kernel, const IterationParts& parts) {
  switch (kernel.kind) {
    case Kernel::Kind::attention: return parts.compute.overhead;
    case Kernel::Kind::gemm: return streamed_time(kernel, parts);
    case Kernel::Kind::memory: break;
  }
  return time_of(kernel, parts.gpu, parts.compute);
}

/// Products with experts that nobody chose are not computed, nor their matrices read.
Kernel with_chosen(const Kernel& kernel, double chosen) {
  Kernel fewer = gemm(kernel.label, kernel.precision, chosen, kernel.count * kernel.m / chosen, kernel.n, kernel.k);
  fewer.unaligned = kernel.unaligned;
  fewer.launches = kernel.launches;
  return fewer;
}

/// All that a layer computes of so many tokens but attention between them.
Time layer_time(const IterationParts& parts, std::uint32_t tokens, std::uint32_t layer) {
  const Transformer& model = parts.served.model;
  const LayerWork work = layer_work(model, plan_of(parts.served, tokens), layer);
  Time sum;
  for (const PhasedKernels* part :
       {&work.before_attention, &work.attention, &work.before_mlp, &work.shared, &work.after_mlp}) {
    for (const Kernel& kernel : part->forward) { sum += time_in_layer(kernel, parts); }
  }
  const bool experts = has_experts(model, layer);
  for (const Kernel& kernel : work.mlp.forward) {
    const bool of_experts = experts && kernel.kind == Kernel::Kind::gemm;
    sum += time_in_layer(of_experts ? with_chosen(kernel, chosen_experts(*model.experts, tokens)) : kernel, parts);
  }
  return sum;
}

/// Layers with experts, and those without, are each alike.
Time layers_time(const IterationParts& parts, std::uint32_t tokens) {
  const Transformer& model = parts.served.model;
  std::array<std::int64_t, 2> counts{};
  std::array<std::uint32_t, 2> examples{};
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
    const std::size_t kind = has_experts(model, layer) ? 1 : 0;
    ++counts.at(kind);
    examples.at(kind) = layer;
  }
  Time sum;
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    if (counts.at(kind) > 0) { sum += layer_time(parts, tokens, examples.at(kind)) * counts.at(kind); }
  }
  return sum;
}

/// Interpolated between points of the grid.
class GridPrice {
 public:
  GridPrice(const CallPrice& price, CollectiveKind kind) : price_(price), kind_(kind) {}

  Time of(std::uint32_t n, Bytes of_one) {
    const GridPlace place = grid_place(n);
    const Time below = at(place.below, of_one);
    if (place.below == place.above) { return below; }
    const Time rise = at(place.above, of_one) - below;
    return below + rise * static_cast<std::int64_t>(n - place.below) / (place.above - place.below);
  }

 private:
  Time at(std::uint32_t n, Bytes of_one) {
    const auto found = known_.find(n);
    if (found != known_.end()) { return found->second; }
    return known_.emplace(n, price_(kind_, of_one * n)).first->second;
  }

  const CallPrice& price_;
  CollectiveKind kind_;
  std::unordered_map<std::uint32_t, Time> known_;
};

/// Answers, remembered by the question.
class IterationTimes {
 public:
  explicit IterationTimes(IterationParts parts)
      : parts_(std::move(parts)),
        all_reduce_(parts_.call, CollectiveKind::all_reduce),
        all_gather_(parts_.call, CollectiveKind::all_gather) {
    parts_.compute.waves = 0;
  }
  IterationTimes(const IterationTimes&) = delete;
  IterationTimes& operator=(const IterationTimes&) = delete;

  Time of_tokens(std::uint32_t tokens) {
    return remembered(tokens, of_tokens_, [&] { return compute_tokens(tokens); });
  }
  Time of_samples(std::uint32_t samples) {
    if (samples == 0) { return Time::zero(); }
    return remembered(samples, of_samples_, [&] { return compute_samples(samples); });
  }
  Time of_chunk(std::uint32_t past, std::uint32_t tokens) const {
    return time_without_overhead(chunk_attention(parts_.served, past, tokens));
  }
  Time per_attended() const {
    constexpr double kMany = 1e6;  // kept tokens, so that rounding is of a millionth
    return Time{std::llround(
        static_cast<double>(time_without_overhead(decode_attention(parts_.served, kMany)).count()) / kMany)};
  }

 private:
  template <class Compute>
  static Time remembered(std::uint32_t key, std::unordered_map<std::uint32_t, Time>& known, const Compute& compute) {
    const auto found = known.find(key);
    if (found != known.end()) { return found->second; }
    return known.emplace(key, compute()).first->second;
  }

  Time time_without_overhead(const Kernel& kernel) const {
    Kernel bare = kernel;
    bare.launches = 0;
    return streamed_time(bare, parts_);
  }

  Time compute_tokens(std::uint32_t tokens) {
    const ServedModel& served = parts_.served;
    const ParallelPlan plan = plan_of(served, tokens);
    const auto layers = static_cast<std::int64_t>(served.model.layers);
    Time time = parts_.overhead + layers_time(parts_, tokens);
    time += time_of(embedding_work(served.model, plan).forward, parts_.gpu, parts_.compute);
    time += time_of(output_norm_work(served.model, plan).forward, parts_.gpu, parts_.compute);
    if (served.tensor > 1) { time += all_reduce_.of(tokens, all_reduce_size(served, 1)) * (2 * layers + 1); }
    return time;
  }

  /// A token is chosen of logits that are cast to 32 bits: written, and read once more.
  Time compute_samples(std::uint32_t samples) {
    const ServedModel& served = parts_.served;
    const double vocabulary = served.model.vocabulary;
    constexpr double kChoosing = kWide + 4 + 4;
    Time time = streamed_time(gemm("logits", wide(served), 1, samples, vocabulary / served.tensor, served.model.hidden),
                              parts_);
    time += time_of(memory("choice", samples * vocabulary * kChoosing), parts_.gpu, parts_.compute);
    if (served.tensor > 1) { time += all_gather_.of(samples, all_gather_size(served, 1)); }
    return time;
  }

  IterationParts parts_;
  GridPrice all_reduce_;
  GridPrice all_gather_;
  std::unordered_map<std::uint32_t, Time> of_tokens_;
  std::unordered_map<std::uint32_t, Time> of_samples_;
};

}  // namespace

Bytes all_reduce_size(const ServedModel& served, std::uint32_t tokens) {
  return Bytes{kWide * static_cast<std::int64_t>(served.model.hidden) * tokens};
}

Bytes all_gather_size(const ServedModel& served, std::uint32_t samples) {
  return Bytes{kWide * static_cast<std::int64_t>(served.model.vocabulary) * samples};
}

double chosen_experts(const Experts& experts, std::uint32_t tokens) {
  const double all = experts.experts;
  return all * (1 - std::pow(1 - experts.chosen / all, static_cast<double>(tokens)));
}

Kernel chunk_attention(const ServedModel& served, std::uint32_t past, std::uint32_t tokens) {
  const AttentionShare share = chunk_share(served);
  const double count = tokens;
  const double pairs = count * past + count * (count + 1) / 2;
  Kernel kernel{.kind = Kernel::Kind::attention, .label = "attention", .precision = wide(served)};
  kernel.n = pairs / count;
  kernel.k = share.head;
  kernel.filling = kAttentionFilling;
  kernel.flops = 2 * pairs * share.pair + past * expansion(served);
  kernel.bytes = (past + count) * share.kept + count * share.own;
  return kernel;
}

Kernel decode_attention(const ServedModel& served, double kept) {
  const AttentionShare share = decode_share(served);
  Kernel kernel{.kind = Kernel::Kind::attention, .label = "attention", .precision = wide(served)};
  kernel.flops = 2 * kept * share.pair;
  kernel.bytes = kept * share.kept;
  return kernel;
}

IterationLaw iteration_law(IterationParts parts) {
  const auto times = std::make_shared<IterationTimes>(std::move(parts));
  return {[times](std::uint32_t tokens) { return times->of_tokens(tokens); },
          [times](std::uint32_t samples) { return times->of_samples(samples); }, times->per_attended(),
          [times](std::uint32_t past, std::uint32_t tokens) { return times->of_chunk(past, tokens); }};
}

}  // namespace athanor
