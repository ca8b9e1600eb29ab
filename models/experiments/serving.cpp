#include "models/experiments/serving.hpp"

#include <array>

#include <fmt/core.h>

#include "models/experiments/collective.hpp"
#include "models/experiments/network_columns.hpp"
#include "models/experiments/scenario/algorithm_choice.hpp"
#include "models/experiments/scenario/profile_section.hpp"
#include "models/experiments/serving_columns.hpp"
#include "models/experiments/verification.hpp"
#include "models/experiments/workload.hpp"
#include "models/experiments/workload_columns.hpp"
#include "models/serving/serving_effort.hpp"
#include "models/software/profile.hpp"
#include "models/workload/collective_timer.hpp"
#include "models/workload/work_of_workload.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

/// All replicas call at the same time, each among its own GPUs, which follow each other in rank order.
Workload calls_of(const Serving& serving) {
  EndpointGroups groups(serving.rules.replicas);
  std::uint32_t next = 0;
  for (std::vector<std::uint32_t>& group : groups) {
    for (std::uint32_t i = 0; i < serving.parts.served.tensor; ++i) { group.push_back(next++); }
  }
  Workload workload;
  workload.communicators.push_back(
      {"tensor", Parallelism::tensor, {0}, std::make_shared<const EndpointGroups>(std::move(groups))});
  return workload;
}

Workload::Call call_of(CollectiveKind kind, Bytes size) {
  return {.communicator = 0, .kind = kind, .size = size, .type = DataType::bfloat16};
}

/// All replicas call alike, so that errors name none of them.
Time time_of_call(CollectiveTimer& timer, const Workload& calls, CollectiveKind kind, Bytes size) {
  try {
    return timer.time(calls, call_of(kind, size));
  } catch (const SimulationError& error) {
    std::string_view what = error.what();
    if (what.starts_with("job ")) { what.remove_prefix(what.find(": ") + 2); }
    throw SimulationError(error.code(),
                          fmt::format("{} of {} among the GPUs of a replica: {}", name(kind), to_string(size), what));
  }
}

/// What may be asked for: all points of the grid up to what the engine's rules allow.
void add_all_calls(const Serving& serving, Workload& workload) {
  const auto add = [&](CollectiveKind kind, std::uint32_t most, Bytes of_one) {
    for (std::uint32_t n = 1, below = 0; below < most; below = n, n = grid_place(n + 1).above) {
      workload.calls.push_back(call_of(kind, of_one * n));
    }
  };
  const EngineRules& rules = serving.rules.engine;
  add(CollectiveKind::all_reduce, rules.max_batched_tokens, all_reduce_size(serving.parts.served, 1));
  add(CollectiveKind::all_gather, rules.max_running, all_gather_size(serving.parts.served, 1));
}

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

void put_setup(const Serving& serving, Record& record) {
  const ServedModel& served = serving.parts.served;
  record.put(kServedModel, served.model.name);
  record.put(kServedGpu, serving.parts.gpu.name);
  record.put(kServedGpus, serving.gpus());
  record.put(kServedTensor, served.tensor);
  record.put(kReplicas, serving.rules.replicas);
  record.put(kServedPrecision, name(served.precision));
  record.put(kKvPrecision, name(served.kv_precision));
  record.put(kKvPages, serving.rules.engine.pages);
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

/// By what was measured of a request of one token (0.4 us), and steps of one request (27 ns) and of 256 (3 us).
double operations_of(const RequestMeans& means, const ServingEffort& effort) {
  return means.count * 0.4 + effort.steps * 0.02 + effort.places * 0.012;
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

std::optional<RequestObstacle> obstacle_of(const ServedRequest& request, const EngineRules& rules) {
  if (fits_engine(request, rules)) { return std::nullopt; }
  const std::uint64_t kept = request.most_kept();
  const std::string what =
      fmt::format("of {} tokens and {} more that are generated, keeps {} tokens", request.prompt, request.output, kept);
  const std::uint64_t room = rules.pages * rules.page;
  if (kept > room) {
    return RequestObstacle{fmt::format("{}, and the KV cache of a replica has pages for {}", what, room),
                           "share the model among more GPUs (\"tensor\")"};
  }
  return RequestObstacle{
      fmt::format("{}, and without chunked prefill an iteration has at most {}", what, rules.max_batched_tokens),
      fmt::format("write \"max_batched_tokens\": {}, or allow chunks (\"chunked_prefill\": true)", kept)};
}

std::optional<RequestObstacle> first_obstacle(const ServedRequests& requests, const EngineRules& rules) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (auto obstacle = obstacle_of(requests[i], rules)) {
      obstacle->message = fmt::format("request {}, {}", i, obstacle->message);
      return obstacle;
    }
  }
  return std::nullopt;
}

ServedRequests ServingExperiment::requests(std::uint64_t seed) const {
  if (serving_->recorded) { return *serving_->recorded; }
  ServedRequests drawn = draw_requests(serving_->drawn, seed);
  if (drawn.empty()) {
    throw SimulationError("no-requests", "no request arrives in that time: take a longer \"duration\"");
  }
  if (const auto obstacle = first_obstacle(drawn, serving_->rules.engine)) {
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
  const Workload calls = calls_of(*serving_);
  IterationParts parts = serving_->parts;
  parts.call = [&](CollectiveKind kind, Bytes size) { return time_of_call(timer, calls, kind, size); };
  const ServingRun done = simulate_serving(asked, serving_->rules, iteration_law(std::move(parts)), run.options.stop);
  const ServingSummary summary = summary_of(done, asked, serving_->rules, serving_->limits);
  Record record = run.head;
  put_setup(*serving_, record);
  put_summary(summary, record);
  record.put(kNetwork, name(run.platform.network.level));
  record.put(kSeed, run.platform.seed);
  record.put(kNotes, serving_->notes);
  put_skipped_packets(timer, record);
  record.remarks.insert(record.remarks.end(), serving_->notes.begin(), serving_->notes.end());
  record.effort = fmt::format("{} requests, {} iterations, {} runs of collectives", summary.requests,
                              summary.iterations, timer.simulated());
  return record;
}

WorkCount ServingExperiment::work(const Platform& platform, Bytes /*size*/, const RunOptions& options) const {
  WorkCount work;
  if (serving_->parts.served.tensor > 1) {
    Workload workload = calls_of(*serving_);
    add_all_calls(*serving_, workload);
    work = work_of(workload, pricing_of(nccl_, platform, options));
  }
  const RequestMeans means = serving_->recorded ? means_of(*serving_->recorded) : means_of(serving_->drawn);
  IterationParts parts = serving_->parts;
  parts.call = [](CollectiveKind, Bytes) { return Time::zero(); };
  work[Work::operation] += operations_of(means, effort_of(means, serving_->rules, iteration_law(std::move(parts))));
  work.bytes += means.count * static_cast<double>(sizeof(ServedRequest) + sizeof(ServedOutcome) + 4 * sizeof(Time));
  return work;
}

const RepetitionSummary* ServingExperiment::repetitions() const {
  static constexpr RepetitionSummary kSummary{"each row is the run with the median latency", &row_of};
  return &kSummary;
}

std::vector<const Column*> ServingExperiment::columns(bool seeds) const {
  std::vector<const Column*> columns{&kRequestRate, &kOutputRate,  &kTtftMedian, &kTtftP99,   &kTpotMedian,
                                     &kTpotP99,     &kLatencyMean, &kLatencyP99, &kQueueMean, &kEnginesBusy,
                                     &kRunningMean, &kKvMean,      &kPreemptions};
  if (serving_->limits != ServingLimits{}) { columns.insert(columns.begin() + 2, &kWithinLimits); }
  if (seeds) { columns.insert(columns.end(), {&kLatencyP5, &kLatencyP95}); }
  return columns;
}

std::vector<const Column*> ServingExperiment::figures() {
  return {&kServedModel, &kServedGpus, &kReplicas,   &kLatencyMean, &kTtftMedian,   &kTtftP99,    &kTpotMedian,
          &kTpotP99,     &kOutputRate, &kPromptRate, &kRequestRate, &kWithinLimits, &kGoodputRate};
}

std::vector<const Column*> ServingExperiment::measurable() {
  return {&kOutputRate,    &kPromptRate, &kRequestRate, &kTtftMean,    &kTtftMedian, &kTtftP90,
          &kTtftP99,       &kTpotMean,   &kTpotMedian,  &kTpotP90,     &kTpotP99,    &kLatencyMean,
          &kLatencyMedian, &kLatencyP90, &kLatencyP99,  &kWithinLimits};
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
  const std::uint32_t replicas = serving_->rules.replicas;
  return {{"serving", fmt::format("{} on {} {}: {} replica{} of {}; {}", served.model.name, serving_->gpus(),
                                  serving_->parts.gpu.name, replicas, replicas == 1 ? "" : "s", served.tensor,
                                  serving_->requests)},
          {"profile", fmt::format("collectives {}; computing {}", profile_text(*platform.profile), computing)}};
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
