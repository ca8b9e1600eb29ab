#include "models/experiments/serving.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "models/experiments/collective.hpp"
#include "models/experiments/network_columns.hpp"
#include "models/experiments/scenario/algorithm_choice.hpp"
#include "models/experiments/scenario/profile_section.hpp"
#include "models/experiments/serving_columns.hpp"
#include "models/experiments/serving_run.hpp"
#include "models/experiments/verification.hpp"
#include "models/experiments/workload.hpp"
#include "models/experiments/workload_columns.hpp"
#include "models/software/profile.hpp"
#include "models/workload/collective_timer.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

void put_times(const ServingSummary& summary, Record& record) {
  record.put(kTtftMean, summary.ttft.mean);
  record.put(kTtftMedian, summary.ttft.p50);
  record.put(kTtftP90, summary.ttft.p90);
  record.put(kTtftP99, summary.ttft.p99);
  if (summary.tpot) {
    record.put(kTpotMean, summary.tpot->mean);
    record.put(kTpotMedian, summary.tpot->p50);
    record.put(kTpotP90, summary.tpot->p90);
    record.put(kTpotP99, summary.tpot->p99);
  }
  record.put(kLatencyMean, summary.latency.mean);
  record.put(kLatencyMedian, summary.latency.p50);
  record.put(kLatencyP90, summary.latency.p90);
  record.put(kLatencyP99, summary.latency.p99);
  record.put(kQueueMean, summary.queue.mean);
  record.put(kQueueP99, summary.queue.p99);
}

void put_setup(const Serving& serving, const ServingRules& rules, Record& record) {
  const ServedModel& served = serving.parts.served;
  const std::uint32_t prefill = rules.prefill ? rules.prefill->replicas : 0;
  record.put(kServedModel, served.model.name);
  record.put(kServedGpu, serving.parts.gpu.name);
  record.put(kServedGpus, rules.prefill ? serving.gpus({prefill, rules.replicas}) : serving.gpus());
  record.put(kServedTensor, served.tensor);
  record.put(kReplicas, rules.replicas + prefill);
  record.put(kServedPrecision, name(served.precision));
  record.put(kKvPrecision, name(served.kv_precision));
  record.put(kKvPages, rules.engine.pages);
  if (!rules.prefill) { return; }
  record.put(kPrefillReplicas, prefill);
  record.put(kDecodeReplicas, rules.replicas);
  record.put(kPrefillTensor, serving.prefill_tensor);
  record.put(kPrefillKvPages, rules.prefill->engine.pages);
}

void put_pools(const PoolsSummary& pools, Record& record) {
  constexpr double kGigabyte = 1e9;
  record.put(kPrefillBusy, pools.prefill_busy);
  record.put(kDecodeBusy, pools.decode_busy);
  record.put(kPrefillKvMost, pools.prefill_kv_most);
  record.put(kKvTransferMean, pools.kv_transfer.mean);
  record.put(kKvTransferMedian, pools.kv_transfer.p50);
  record.put(kKvTransferP99, pools.kv_transfer.p99);
  record.put(kKvWaitMean, pools.kv_wait.mean);
  record.put(kKvWaitP99, pools.kv_wait.p99);
  record.put(kKvSent, pools.kv_bytes / kGigabyte);
}

/// GPUs are as busy as their replicas.
double computing_share(const Serving& serving, const ServingResult& result) {
  if (!result.summary.pools) { return result.summary.busy; }
  const double prefill = static_cast<double>(result.rules.prefill->replicas) * serving.prefill_tensor;
  const double decode = static_cast<double>(result.rules.replicas) * serving.parts.served.tensor;
  const PoolsSummary& pools = *result.summary.pools;
  return (pools.prefill_busy * prefill + pools.decode_busy * decode) / (prefill + decode);
}

/// Of all GPUs that replicas have, from the first arrival to the end of the last request, as if it were one step.
void put_costs(const Serving& serving, const ServingResult& result, const Cluster& cluster, Record& record) {
  const ServingRules& rules = result.rules;
  const std::uint32_t gpus = rules.prefill ? serving.gpus({rules.prefill->replicas, rules.replicas}) : serving.gpus();
  StepResult all;
  all.time = Time{std::llround(result.summary.seconds * 1e12)};
  all.tokens_per_s = result.summary.output_per_s;
  all.kinds = {{gpus, computing_share(serving, result)}};
  const StepCosts costs = costs_of(all, serving.costs, machine_of(cluster, gpus));
  put_step_costs(all, costs, serving.costs, record);
  if (!costs.energy_j) { return; }
  const double tokens = result.summary.output_per_s * result.summary.seconds;
  record.remarks.push_back(
      fmt::format("energy: {:.3g} kJ, {:.3g} J for each token that is generated; a GPU draws its "
                  "most in every iteration",
                  *costs.energy_j / 1e3, *costs.energy_j / tokens));
}

std::string searched_text(const ServingResult& result) {
  return fmt::format("of all divisions of the GPUs, this has the largest share of requests within limits: {}",
                     fmt::join(result.searched, "; "));
}

void put_summary(const ServingSummary& summary, Record& record) {
  record.put(kRequests, summary.requests);
  record.put(kServingSeconds, summary.seconds);
  record.put(kOutputRate, summary.output_per_s);
  record.put(kPromptRate, summary.prompt_per_s);
  record.put(kRequestRate, summary.requests_per_s);
  put_times(summary, record);
  record.put_if(kWithinLimits, summary.within_limits);
  if (summary.within_limits) { record.put(kGoodputRate, *summary.within_limits * summary.requests_per_s); }
  record.put(kEnginesBusy, summary.busy);
  record.put(kRunningMean, summary.running);
  record.put(kKvMean, summary.kv_mean);
  record.put(kKvMost, summary.kv_most);
  record.put(kPreemptions, summary.preemptions);
  record.put(kIterations, summary.iterations);
}

Record row_of(std::vector<Record> repetitions) {
  Repetitions all(std::move(repetitions), kLatencyMean);
  Record row = all.median();
  row.put(kSeeds, all.count());
  row.put(kLatencyP5, all.percentile(5).number(kLatencyMean));
  row.put(kLatencyP95, all.percentile(95).number(kLatencyMean));
  return row;
}

}  // namespace

std::uint32_t Serving::gpus() const {
  std::uint32_t most = divisions.empty() ? parts.served.tensor * rules.replicas : 0;
  for (const PoolDivision& division : divisions) { most = std::max(most, gpus(division)); }
  return most;
}

ServedModel Serving::prefilled() const {
  ServedModel model = parts.served;
  model.tensor = prefill_tensor;
  return model;
}

ServedRequests ServingExperiment::requests(std::uint64_t seed) const {
  if (serving_->recorded) { return *serving_->recorded; }
  ServedRequests drawn = draw_requests(serving_->drawn, seed);
  if (drawn.empty()) {
    throw SimulationError("no-requests", "no request arrives in that time: take a longer \"duration\"");
  }
  if (const auto obstacle = first_obstacle(drawn, serving_->rules)) {
    throw SimulationError("request-too-long",
                          fmt::format("{}: {}, or bound lengths by \"most\"", obstacle->message, obstacle->hint));
  }
  return drawn;
}

std::span<const Bytes> ServingExperiment::sizes() const {
  static constexpr std::array kSizes{kOneRun};
  return kSizes;
}

std::string ServingExperiment::label(Bytes /*size*/) const { return "serving"; }

std::vector<Record> ServingExperiment::run(const Run& run) const {
  try {
    return {served(run)};
  } catch (const SimulationError& error) {
    if (error.code() != "time-overflow") { throw; }
    throw SimulationError(error.code(),
                          fmt::format("{}: ask for fewer requests or tokens, a higher \"rate\", or a shorter "
                                      "\"overhead\"",
                                      error.what()));
  }
}

Record ServingExperiment::served(const Run& run) const {
  const ServedRequests asked = requests(run.platform.seed);
  CollectiveTimer timer(pricing_of(nccl_, run.platform, run.options));
  const ServingResult result = simulate(*serving_, asked, timer, run);
  Record record = run.head;
  put_setup(*serving_, result.rules, record);
  put_summary(result.summary, record);
  if (result.summary.pools) { put_pools(*result.summary.pools, record); }
  std::vector<std::string> notes = serving_->notes;
  if (serving_->divisions.size() > 1) {
    record.put(kDivisions, result.searched);
    notes.push_back(searched_text(result));
  }
  put_costs(*serving_, result, *run.platform.cluster, record);
  record.put(kNetwork, name(run.platform.network.level));
  record.put(kSeed, run.platform.seed);
  record.put(kNotes, notes);
  put_skipped_packets(timer, record);
  record.remarks.insert(record.remarks.end(), notes.begin(), notes.end());
  record.effort = fmt::format("{} requests, {} iterations, {} runs of collectives", result.summary.requests,
                              result.summary.iterations, timer.simulated());
  return record;
}

WorkCount ServingExperiment::work(const Platform& platform, Bytes /*size*/, const RunOptions& options) const {
  return work_of(*serving_, nccl_, platform, options);
}

const RepetitionSummary* ServingExperiment::repetitions() const {
  static constexpr RepetitionSummary kSummary{"each row is the run with the median latency", &row_of};
  const bool drawn = !serving_->recorded && draws(serving_->drawn);
  const bool routed = has_collectives() || !serving_->divisions.empty();  // paths are chosen by the seed, too
  return drawn || routed ? &kSummary : nullptr;
}

std::vector<const Column*> ServingExperiment::columns(bool seeds) const {
  std::vector<const Column*> columns{&kRequestRate, &kOutputRate,  &kTtftMedian, &kTtftP99,   &kTpotMedian,
                                     &kTpotP99,     &kLatencyMean, &kLatencyP99, &kQueueMean, &kEnginesBusy,
                                     &kRunningMean, &kKvMean,      &kPreemptions};
  if (serving_->limits != ServingLimits{}) { columns.insert(columns.begin() + 2, &kWithinLimits); }
  if (!serving_->divisions.empty()) {
    columns.insert(columns.begin(), {&kPrefillReplicas, &kDecodeReplicas});
    columns.insert(columns.end(), {&kKvTransferMean, &kKvWaitMean});
  }
  if (seeds) { columns.insert(columns.end(), {&kLatencyP5, &kLatencyP95}); }
  return columns;
}

std::vector<const Column*> ServingExperiment::figures() {
  std::vector<const Column*> all{&kServedModel,    &kServedGpus, &kReplicas,    &kPrefillReplicas, &kDecodeReplicas,
                                 &kLatencyMean,    &kTtftMedian, &kTtftP99,     &kTpotMedian,      &kTpotP99,
                                 &kOutputRate,     &kPromptRate, &kRequestRate, &kWithinLimits,    &kGoodputRate,
                                 &kKvTransferMean, &kKvWaitMean};
  const std::vector<const Column*> costs = figures_of_step_costs();
  all.insert(all.end(), costs.begin(), costs.end());
  return all;
}

std::vector<const Column*> ServingExperiment::measurable() {
  return {&kOutputRate,   &kPromptRate,     &kRequestRate,      &kTtftMean,     &kTtftMedian,
          &kTtftP90,      &kTtftP99,        &kTpotMean,         &kTpotMedian,   &kTpotP90,
          &kTpotP99,      &kLatencyMean,    &kLatencyMedian,    &kLatencyP90,   &kLatencyP99,
          &kWithinLimits, &kKvTransferMean, &kKvTransferMedian, &kKvTransferP99};
}

std::optional<Reference> ServingExperiment::reference() const {
  if (serving_->measured.empty()) { return std::nullopt; }
  Reference reference{.max_error = serving_->max_error};
  for (const Column* column : measurable()) {
    const auto found = serving_->measured.find(column);
    if (found != serving_->measured.end()) { reference.figures.push_back({column, to_double(found->second)}); }
  }
  return reference;
}

std::vector<std::pair<std::string, std::string>> ServingExperiment::description(const Platform& platform) const {
  const ServedModel& served = serving_->parts.served;
  const ComputeProfile& compute = serving_->parts.compute;
  std::string computing = compute.name;
  if (compute.pooled) { computing += ": " + compute.description; }
  return {{"serving", fmt::format("{} on {} {}: {}; {}", served.model.name, serving_->gpus(), serving_->parts.gpu.name,
                                  replicas_text(), serving_->requests)},
          {"profile", fmt::format("collectives {}; computing {}", profile_text(*platform.profile), computing)}};
}

bool ServingExperiment::has_collectives() const {
  return serving_->parts.served.tensor > 1 || serving_->prefill_tensor > 1;
}

std::string ServingExperiment::replicas_text() const {
  const std::uint32_t tensor = serving_->parts.served.tensor;
  const auto text = [](std::uint32_t count, std::uint32_t gpus) {
    return fmt::format("{} replica{} of {}", count, count == 1 ? "" : "s", gpus);
  };
  if (serving_->divisions.empty()) { return text(serving_->rules.replicas, tensor); }
  if (serving_->divisions.size() > 1) {
    return fmt::format("replicas of {} that prefill and of {} that decode, the best of {} divisions",
                       serving_->prefill_tensor, tensor, serving_->divisions.size());
  }
  return fmt::format("{} that prefill, {} that decode",
                     text(serving_->divisions.front().prefill, serving_->prefill_tensor),
                     text(serving_->divisions.front().decode, tensor));
}

std::string ServingExperiment::participants() const { return fmt::format("{} GPUs", ranks()); }

std::vector<std::string> ServingExperiment::warnings(const Platform& platform) const {
  return nccl_warnings(*platform.profile, {nccl_.all});
}

std::string ServingExperiment::refusal(const Platform& /*platform*/, Ability ability) const {
  switch (ability) {
    case Ability::timeline: return "--trace draws what steps and collectives do, and this is serving; use --json";
    case Ability::flows: return "--flows writes the messages of traffic, and this is none; leave it out";
    case Ability::ports:
      return "--ports counts what ports carry in collectives and traffic, and this is neither; leave it out";
    case Ability::per_job: return "--per-job lists the jobs of a workload, and this is none; leave it out";
    case Ability::memory: return "--strict: a model that does not fit into memory is refused in any case; leave it out";
  }
  return "";
}

std::vector<IdleKeys> ServingExperiment::idle_keys(const Platform& /*platform*/) const {
  return {kFallbackKeys,
          {{"/serving/compute/gemm/waves", "/serving/compute/interference", "/serving/compute/launch",
            "/serving/compute/pass_overhead", "/serving/compute/straggler_growth"},
           "it is of steps of training",
           "leave it out; what the host takes for an iteration is \"overhead\""}};
}

void ServingExperiment::check_asked_sizes() const {
  throw UsageError("--sizes: requests have lengths of their own; leave out --sizes");
}

}  // namespace athanor
