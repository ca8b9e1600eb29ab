#include "models/experiments/training_compression.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/training/compression/coding.hpp"

namespace athanor {

namespace {

constexpr Column kCompression{"compression"};  ///< where copies compress what they send: by which kind
constexpr Column kSent{"copies_sent_bytes"};   ///< ... bytes that a GPU sends to other copies in a step, at least
constexpr Column kSentPlain{"uncompressed_sent_bytes"};   ///< ... and would without it
constexpr Column kPlainStep{"uncompressed_step_time_s"};  ///< with `warm_up`: a step before compression begins
constexpr Column kMeanStep{"mean_step_time_s"};           ///< ... of all steps of a training, with and without

constexpr double kMegabyte = 1e-6;

double bytes_of(const Workload& workload, const Workload::Operation& operation) {
  if (operation.kind != Workload::Kind::call) { return 0; }
  const Workload::Call& call = workload.calls[operation.subject];
  const Workload::Communicator& communicator = workload.communicators[call.communicator];
  if (communicator.use != Parallelism::data) { return 0; }
  return sent_bytes(CodedCall{.kind = call.kind, .bytes = static_cast<double>(call.size.count())},
                    {.ranks = static_cast<double>(communicator.groups->front().size())});
}

std::string how(const Compression& compression) {
  const std::string kind(name(compression.kind));
  switch (compression.kind) {
    case CompressionKind::top_k: return fmt::format("{} of density {:g}", kind, to_double(compression.density));
    case CompressionKind::power_sgd: return fmt::format("{} of rank {}", kind, compression.rank);
    case CompressionKind::zero_plus_plus:
      return fmt::format("{}:{}{}{}{}", kind, compression.quantized_weights ? " qwZ" : "",
                         compression.secondary_weights ? " hpZ" : "", compression.quantized_gradients ? " qgZ" : "",
                         compression.knows_nodes() ? fmt::format(", {} copies in a node", compression.node_ranks) : "");
    case CompressionKind::none:
    case CompressionKind::fp16:
    case CompressionKind::bf16:
    case CompressionKind::one_bit_adam: return kind;
    case CompressionKind::fp8:
    case CompressionKind::int8: return fmt::format("{} in blocks of {}", kind, compression.block);
  }
  return kind;
}

}  // namespace

double bytes_between_copies(const Workload& workload) {
  double most = 0;
  for (const Workload::Worker& worker : workload.workers) {
    double sum = 0;
    for (const Workload::Operation& each : worker.operations) { sum += bytes_of(workload, each); }
    most = std::max(most, sum);
  }
  return most;
}

TrainingSetup without_compression(TrainingSetup setup) {
  setup.plan.compression = {};
  return setup;
}

bool has_steps_before(const TrainingSetup& setup) { return setup.plan.compression.warm_up > Ratio{0, 1}; }

std::optional<Time> step_before(const TrainingSetup& setup, CollectiveTimer& timer, const WorkloadOptions& options) {
  if (!has_steps_before(setup)) { return std::nullopt; }
  return simulate_step(without_compression(setup), timer, options).time;
}

void put_compression(const TrainingSetup& setup, Time time, const std::optional<Time>& before, Record& record) {
  const Compression& compression = setup.plan.compression;
  if (!compression.is_on()) { return; }
  const double sent = bytes_between_copies(workload_of(setup));
  const double plain = bytes_between_copies(workload_of(without_compression(setup)));
  record.put(kCompression, name(compression.kind));
  record.put(kSent, sent);
  record.put(kSentPlain, plain);
  if (sent > 0) {
    record.remarks.push_back(fmt::format(
        "compression: {}; a GPU sends other copies {:.4g} MB a step in place of {:.4g} MB ({:.3g} times less); coding "
        "runs on the stream of the calls, and slows no computing beside it",
        how(compression), sent * kMegabyte, plain * kMegabyte, plain / sent));
  }
  if (!before) { return; }
  const double share = to_double(compression.warm_up);
  const double mean = share * seconds(*before) + (1 - share) * seconds(time);
  record.put(kPlainStep, seconds(*before));
  record.put(kMeanStep, mean);
  record.remarks.push_back(
      fmt::format("warm-up: {:g} % of the steps take {:.2f} ms without compression, all {:.2f} ms "
                  "on average",
                  share * 100, seconds(*before) * 1e3, mean * 1e3));
}

}  // namespace athanor
