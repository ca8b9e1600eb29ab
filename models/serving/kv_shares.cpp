#include "models/serving/kv_shares.hpp"

#include <algorithm>

namespace athanor {

namespace {

/// KV heads of a GPU: from `first` until `last`.
struct HeadRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

HeadRange heads_of(std::uint32_t gpu, std::uint32_t gpus, std::uint32_t heads) {
  if (gpus > heads) {
    const std::uint32_t one = gpu / (gpus / heads);
    return {one, one + 1};
  }
  return {gpu * heads / gpus, (gpu + 1) * heads / gpus};
}

/// What heads share is on every GPU.
std::vector<KvShare> latent_shares(const ServedModel& served, std::uint32_t to) {
  const Attention& attention = served.model.attention;
  const auto bytes = static_cast<std::int64_t>(bytes_of(served.kv_precision)) *
                     (std::int64_t{attention.kv_rank} + attention.rotary_size);
  std::vector<KvShare> shares;
  for (std::uint32_t j = 0; j < to; ++j) { shares.push_back({j % served.tensor, j, bytes}); }
  return shares;
}

}  // namespace

std::vector<KvShare> kv_shares(const ServedModel& served, std::uint32_t to) {
  const Attention& attention = served.model.attention;
  if (attention.kind == Attention::Kind::latent) { return latent_shares(served, to); }
  const std::uint32_t copies = std::max(1U, served.tensor / attention.kv_heads);
  const auto of_head = static_cast<std::int64_t>(bytes_of(served.kv_precision)) *
                       (std::int64_t{attention.head_size} + attention.value_size);
  std::vector<KvShare> shares;
  for (std::uint32_t j = 0; j < to; ++j) {
    const HeadRange needed = heads_of(j, to, attention.kv_heads);
    for (std::uint32_t i = j % copies; i < served.tensor; i += copies) {
      const HeadRange there = heads_of(i, served.tensor, attention.kv_heads);
      const std::uint32_t first = std::max(needed.first, there.first);
      const std::uint32_t last = std::min(needed.last, there.last);
      if (first < last) { shares.push_back({i, j, of_head * (last - first)}); }
    }
  }
  return shares;
}

std::uint64_t sent_tokens(const Transformer& model, std::uint32_t prompt, std::uint32_t first, std::uint32_t last) {
  std::uint64_t sum = 0;
  for (std::uint32_t layer = first; layer < last; ++layer) {
    const std::uint32_t window = window_of(model, layer);
    sum += window > 0 ? std::min(window, prompt) : prompt;
  }
  return sum;
}

}  // namespace athanor
