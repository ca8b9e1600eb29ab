#include "models/experiments/scenario/compression_section.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "models/experiments/scenario/plan_names.hpp"
#include "models/software/profile.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

using Kind = CompressionKind;

constexpr std::uint32_t kMostRanks = 1'000'000;

/// A key, and the kinds that it acts on.
struct Scope {
  const char* key;
  std::vector<Kind> kinds;
};

const std::vector<Scope>& scopes() {
  static const std::vector<Scope> all{{"block", {Kind::fp8, Kind::int8, Kind::zero_plus_plus}},
                                      {"density", {Kind::top_k}},
                                      {"rank", {Kind::power_sgd}},
                                      {"least_ratio", {Kind::power_sgd}},
                                      {"error_feedback", {Kind::top_k, Kind::power_sgd}},
                                      {"warm_up", {Kind::power_sgd, Kind::one_bit_adam}},
                                      {"quantized_weights", {Kind::zero_plus_plus}},
                                      {"secondary_weights", {Kind::zero_plus_plus}},
                                      {"quantized_gradients", {Kind::zero_plus_plus}},
                                      {"node_ranks", {Kind::zero_plus_plus}}};
  return all;
}

void check_scopes(Fields& fields, Kind kind) {
  for (const Scope& scope : scopes()) {
    if (!fields.has(scope.key) || std::count(scope.kinds.begin(), scope.kinds.end(), kind) > 0) { continue; }
    std::vector<std::string> names;
    for (const Kind each : scope.kinds) { names.emplace_back(name(each)); }
    fields.problem(scope.key, "no-effect", fmt::format("{} has no \"{}\"", name(kind), scope.key),
                   fmt::format("leave it out; it is of {}", joined(names, ", ")));
  }
}

void check_parts(Fields& fields, const Compression& read) {
  if (read.kind != Kind::zero_plus_plus) { return; }
  if (!read.quantized_weights && !read.secondary_weights && !read.quantized_gradients) {
    fields.problem(
        "kind", "no-effect", "zero_plus_plus does nothing without one of its three parts",
        R"(write "quantized_weights" (qwZ), "secondary_weights" (hpZ) or "quantized_gradients" (qgZ): true)");
  }
  if (!read.quantized_weights && !read.quantized_gradients && fields.has("block")) {
    fields.problem("block", "no-effect", "nothing is quantised, and has no scales",
                   R"(leave it out, or write "quantized_weights" or "quantized_gradients": true)");
  }
  if (!read.knows_nodes() && fields.has("node_ranks")) {
    fields.problem("node_ranks", "no-effect", "int8 parameters are gathered from all copies alike",
                   R"(leave it out, or write "secondary_weights" or "quantized_gradients": true)");
  }
}

void read_numbers(Fields& fields, Compression& read) {
  fields.optional("block", read.block, "Numbers that share a scale in fp32 (fp8, int8, zero_plus_plus)", {8, 1 << 30});
  fields.optional("density", read.density, "Share of its numbers that a rank sends (top_k)", {{1, 1'000'000}, {1, 1}});
  fields.optional("rank", read.rank, "Columns of both factors of a matrix (power_sgd)", {1, 65536});
  fields.optional("least_ratio", read.least_ratio,
                  "Matrices that would not shrink so many times stay as they are (power_sgd)", {{1, 1}, {1000, 1}});
  fields.optional("error_feedback", read.error_feedback,
                  "What was not sent is added to the next gradient (top_k, power_sgd)");
  fields.optional("warm_up", read.warm_up,
                  "Share of a training's steps before it begins (power_sgd, one_bit_adam): the mean step is told, too",
                  {{0, 1}, {1, 1}});
}

void read_parts(Fields& fields, Compression& read) {
  fields.optional("quantized_weights", read.quantized_weights, "Parameters are gathered in int8 (zero_plus_plus: qwZ)");
  fields.optional("secondary_weights", read.secondary_weights,
                  "A second copy in each node, from which backward gathers parameters (zero_plus_plus: hpZ)");
  fields.optional("quantized_gradients", read.quantized_gradients,
                  "Gradients are scattered in int4, within nodes and then between them (zero_plus_plus: qgZ)");
  std::optional<std::uint32_t> node_ranks;
  if (read.node_ranks > 0) { node_ranks = read.node_ranks; }
  fields.optional("node_ranks", node_ranks, "Copies in a node (hpZ, qgZ); absent: as the cluster has them",
                  {1, kMostRanks});
  if (node_ranks) { read.node_ranks = *node_ranks; }
}

}  // namespace

void read_compression(Fields& fields, Compression& compression) {
  std::optional<Compression> written;
  if (compression.is_on()) { written = compression; }
  fields.optional_object("compression", written, "What copies send each other in place of gradients or parameters",
                         [](Fields& inner, Compression& read) {
                           if (!inner.writing()) { read.kind = Kind::int8; }
                           inner.required("kind", read.kind,
                                          "fp16, bf16, fp8, int8, top_k, power_sgd, one_bit_adam or zero_plus_plus",
                                          names_of(read.kind));
                           read_numbers(inner, read);
                           read_parts(inner, read);
                           check_scopes(inner, read.kind);
                           check_parts(inner, read);
                         });
  if (written) { compression = *written; }
}

void settle_nodes(const Cluster& cluster, ParallelPlan& plan) {
  if (!plan.compression.knows_nodes() || plan.compression.node_ranks > 0) { return; }
  const std::uint32_t in_node = plan.ranks() / std::max(1U, nodes_of(cluster, plan.ranks()));
  plan.compression.node_ranks = std::max(1U, in_node / plan.tensor);
}

}  // namespace athanor
