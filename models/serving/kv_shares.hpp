#pragma once

#include <cstdint>
#include <vector>

#include "models/serving/served_model.hpp"

namespace athanor {

/// What one GPU of a replica that prefilled sends to one of a replica that decodes.
struct KvShare {
  std::uint32_t from = 0;  ///< in its replica
  std::uint32_t to = 0;    ///< in its replica
  std::int64_t bytes = 0;  ///< of a token, in one layer
  bool operator==(const KvShare&) const = default;
};

/// From replicas of served.tensor GPUs to those of `to` GPUs. Each GPU gets the KV heads that it computes with, from
/// the GPUs that have them; where several have the same head, each sends to its part of those that need it. By `to`,
/// then `from`. Together they send to each GPU what it keeps of a token: kept_bytes().
std::vector<KvShare> kv_shares(const ServedModel& served, std::uint32_t to);

/// Tokens of a prompt whose keys and values are sent, added up over the layers from `first` until `last`.
std::uint64_t sent_tokens(const Transformer& model, std::uint32_t prompt, std::uint32_t first, std::uint32_t last);

}  // namespace athanor
