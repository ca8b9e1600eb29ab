#include "models/serving/serving_summary.hpp"

#include <algorithm>
#include <utility>

#include "sim/percentile.hpp"

namespace athanor {

TimeSpread spread_of(std::vector<Time> times) {
  if (times.empty()) { return {}; }
  std::sort(times.begin(), times.end());
  double sum = 0;
  for (const Time time : times) { sum += seconds(time); }
  return {sum / static_cast<double>(times.size()), seconds(percentile(times, 50)), seconds(percentile(times, 90)),
          seconds(percentile(times, 99))};
}

namespace {

Time tpot_of(const ServedRequest& request, const ServedOutcome& outcome) {
  return (outcome.finished - outcome.first_token) / static_cast<std::int64_t>(request.output - 1);
}

bool keeps(const ServingLimits& limits, const ServedRequest& request, const ServedOutcome& outcome) {
  if (limits.ttft && outcome.first_token - request.arrival > *limits.ttft) { return false; }
  return !limits.tpot || request.output == 1 || tpot_of(request, outcome) <= *limits.tpot;
}

void put_times(const ServingRun& run, const ServedRequests& requests, ServingSummary& summary) {
  std::vector<Time> ttft;
  std::vector<Time> tpot;
  std::vector<Time> latency;
  std::vector<Time> queue;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const ServedOutcome& outcome = run.outcomes[i];
    ttft.push_back(outcome.first_token - requests[i].arrival);
    if (requests[i].output > 1) { tpot.push_back(tpot_of(requests[i], outcome)); }
    latency.push_back(outcome.finished - requests[i].arrival);
    queue.push_back(outcome.scheduled - requests[i].arrival);
  }
  summary.ttft = spread_of(std::move(ttft));
  if (!tpot.empty()) { summary.tpot = spread_of(std::move(tpot)); }
  summary.latency = spread_of(std::move(latency));
  summary.queue = spread_of(std::move(queue));
}

void put_rates(const ServingRun& run, const ServedRequests& requests, ServingSummary& summary) {
  double prompts = 0;
  double outputs = 0;
  for (const ServedRequest& request : requests) {
    prompts += request.prompt;
    outputs += request.output;
  }
  summary.requests = requests.size();
  summary.seconds = seconds(run.end - requests.front().arrival);
  summary.prompt_per_s = prompts / summary.seconds;
  summary.output_per_s = outputs / summary.seconds;
  summary.requests_per_s = static_cast<double>(requests.size()) / summary.seconds;
}

/// Of all replicas of a pool, added up.
struct PoolTotals {
  double busy = 0;
  double running = 0;
  double kept = 0;
  std::uint64_t most_pages = 0;
};

PoolTotals totals_of(const std::vector<EngineAccount>& pool, ServingSummary& summary) {
  PoolTotals totals;
  for (const EngineAccount& replica : pool) {
    totals.busy += seconds(replica.busy);
    totals.running += replica.running_seconds;
    totals.kept += replica.kept_token_seconds;
    totals.most_pages = std::max(totals.most_pages, replica.most_pages);
    summary.iterations += replica.iterations;
    summary.preemptions += replica.preemptions;
  }
  return totals;
}

void put_replicas(const ServingRun& run, const ServingRules& rules, ServingSummary& summary) {
  const PoolTotals totals = totals_of(run.replicas, summary);
  const auto pages = static_cast<double>(rules.engine.pages);
  summary.busy = totals.busy / (summary.seconds * rules.replicas);
  summary.kv_most = static_cast<double>(totals.most_pages) / pages;
  if (totals.busy == 0) { return; }  // all had one token, and nobody decoded
  summary.running = totals.running / totals.busy;
  summary.kv_mean = totals.kept / (totals.busy * pages * rules.engine.page);
}

void put_pools(const ServingRun& run, const ServingRules& rules, ServingSummary& summary) {
  const PoolTotals totals = totals_of(run.prefill, summary);
  PoolsSummary& pools = summary.pools.emplace();
  pools.prefill_busy = totals.busy / (summary.seconds * rules.prefill->replicas);
  pools.decode_busy = summary.busy;
  const double all = static_cast<double>(rules.prefill->replicas) + rules.replicas;
  summary.busy = (pools.prefill_busy * rules.prefill->replicas + pools.decode_busy * rules.replicas) / all;
  pools.prefill_kv_most = static_cast<double>(totals.most_pages) / static_cast<double>(rules.prefill->engine.pages);
  pools.kv_bytes = static_cast<double>(run.kv_bytes);
  std::vector<Time> transfer;
  std::vector<Time> wait;
  for (std::size_t i = 0; i < run.transfers.size(); ++i) {
    const KvTransferTimes& each = run.transfers[i];
    if (each.there == Time::zero()) { continue; }
    transfer.push_back(each.there - each.begun);
    wait.push_back(each.there - run.outcomes[i].first_token);
  }
  pools.kv_transfer = spread_of(std::move(transfer));
  pools.kv_wait = spread_of(std::move(wait));
}

}  // namespace

ServingSummary summary_of(const ServingRun& run, const ServedRequests& requests, const ServingRules& rules,
                          const ServingLimits& limits) {
  ServingSummary summary;
  put_times(run, requests, summary);
  put_rates(run, requests, summary);
  put_replicas(run, rules, summary);
  if (rules.prefill) { put_pools(run, rules, summary); }
  if (!limits.ttft && !limits.tpot) { return summary; }
  std::uint64_t kept = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) { kept += keeps(limits, requests[i], run.outcomes[i]) ? 1 : 0; }
  summary.within_limits = static_cast<double>(kept) / static_cast<double>(requests.size());
  return summary;
}

}  // namespace athanor
