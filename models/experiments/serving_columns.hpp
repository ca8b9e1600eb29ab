#pragma once

#include "models/experiments/record.hpp"

namespace athanor {

// What results of serving have.

inline constexpr Column kServedModel{
    .key = "model", .role = ColumnRole::subject, .shown = {.in_reports = Shown::Report::word}};  ///< by name
inline constexpr Column kServedGpu{"gpu"};                                                       ///< preset of the GPUs
inline constexpr Column kServedGpus{.key = "gpus",
                                    .role = ColumnRole::choice,
                                    .shown = {.in_reports = Shown::Report::word, .report_head = "GPUs"}};  ///< how many
inline constexpr Column kServedTensor{"tensor"};                                   ///< GPUs of a replica
inline constexpr Column kReplicas{.key = "replicas", .role = ColumnRole::choice};  ///< copies of the model
inline constexpr Column kServedPrecision{"precision"};                             ///< of weights and products
inline constexpr Column kKvPrecision{"kv_precision"};                              ///< of kept keys and values
inline constexpr Column kKvPages{"kv_pages"};                                      ///< of each replica's KV cache
inline constexpr Column kRequests{"requests"};                                     ///< that were served
inline constexpr Column kServingSeconds{"duration_s"};  ///< from the first arrival to the end of the last request
inline constexpr Column kOutputRate{.key = "output_tokens_per_s",
                                    .head = "tokens",
                                    .unit = "(1/s)",
                                    .width = 11,
                                    .role = ColumnRole::rate,
                                    .shown = {.in_sweeps = true,
                                              .beside_time = true,
                                              .in_reports = Shown::Report::figure,
                                              .report_head = "tokens/s",
                                              .decimals = 0,
                                              .axis = "Output tokens per second"}};  ///< generated, of all replicas
inline constexpr Column kPromptRate{.key = "prompt_tokens_per_s",
                                    .role = ColumnRole::rate};  ///< of prompts, each counted once
inline constexpr Column kRequestRate{.key = "requests_per_s",
                                     .head = "requests",
                                     .unit = "(1/s)",
                                     .width = 9,
                                     .role = ColumnRole::rate,
                                     .shown = {.in_sweeps = true}};  ///< that were finished
inline constexpr Column kTtftMean{"ttft_s_mean"};  ///< time to first token: from arrival to the end of the iteration
                                                   ///< that generates it
inline constexpr Column kTtftMedian{
    .key = "ttft_s_median",
    .head = "TTFT p50",
    .unit = "(ms)",
    .width = 10,
    .format = Format::milliseconds,
    .shown = {
        .in_sweeps = true, .in_reports = Shown::Report::figure, .axis = "Time to first token, median"}};  ///< median
inline constexpr Column kTtftP90{"ttft_s_p90"};  ///< 90th percentile
inline constexpr Column kTtftP99{.key = "ttft_s_p99",
                                 .head = "p99",
                                 .unit = "(ms)",
                                 .width = 10,
                                 .format = Format::milliseconds,
                                 .shown = {.in_sweeps = true,
                                           .in_reports = Shown::Report::figure,
                                           .axis = "Time to first token, 99th percentile"}};  ///< 99th percentile
inline constexpr Column kTpotMean{
    "tpot_s_mean"};  ///< time per output token after the first, of a request: mean over requests of two tokens and more
inline constexpr Column kTpotMedian{
    .key = "tpot_s_median",
    .head = "TPOT p50",
    .unit = "(ms)",
    .width = 9,
    .format = Format::milliseconds,
    .shown = {
        .in_sweeps = true, .in_reports = Shown::Report::figure, .axis = "Time per output token, median"}};  ///< median
inline constexpr Column kTpotP90{"tpot_s_p90"};  ///< 90th percentile
inline constexpr Column kTpotP99{.key = "tpot_s_p99",
                                 .head = "p99",
                                 .unit = "(ms)",
                                 .width = 9,
                                 .format = Format::milliseconds,
                                 .shown = {.in_reports = Shown::Report::figure,
                                           .axis = "Time per output token, 99th percentile"}};  ///< 99th percentile
inline constexpr Column kLatencyMean{.key = "latency_s_mean",
                                     .head = "latency",
                                     .unit = "(ms)",
                                     .width = 11,
                                     .format = Format::milliseconds,
                                     .role = ColumnRole::time,
                                     .shown = {.in_sweeps = true,
                                               .in_reports = Shown::Report::figure,
                                               .axis = "Latency"}};  ///< from arrival to the last token, on average
inline constexpr Column kLatencyMedian{"latency_s_median"};          ///< median
inline constexpr Column kLatencyP90{"latency_s_p90"};                ///< 90th percentile
inline constexpr Column kLatencyP99{.key = "latency_s_p99",
                                    .head = "p99",
                                    .unit = "(ms)",
                                    .width = 11,
                                    .format = Format::milliseconds};  ///< 99th percentile
inline constexpr Column kQueueMean{.key = "queue_s_mean",
                                   .head = "queue",
                                   .unit = "(ms)",
                                   .width = 10,
                                   .format = Format::milliseconds};  ///< from arrival to the first iteration with it
inline constexpr Column kQueueP99{"queue_s_p99"};                    ///< 99th percentile
inline constexpr Column kWithinLimits{
    .key = "within_limits",
    .head = "goodput",
    .unit = "(%)",
    .width = 8,
    .format = Format::percent,
    .role = ColumnRole::rate,
    .shown = {.in_sweeps = true,
              .in_reports = Shown::Report::figure,
              .axis = "Requests within limits (%)"}};  ///< share of requests that keep every limit
inline constexpr Column kGoodputRate{.key = "goodput_requests_per_s",
                                     .role = ColumnRole::rate};  ///< of these, a second
inline constexpr Column kEnginesBusy{
    .key = "busy", .head = "busy", .unit = "(%)", .width = 7, .format = Format::percent};  ///< share of the time that
                                                                                           ///< replicas run iterations
inline constexpr Column kRunningMean{.key = "running_mean",
                                     .head = "running",
                                     .width = 8,
                                     .format = Format::one_decimal};  ///< requests in an iteration, while there are any
inline constexpr Column kKvMean{.key = "kv_mean",
                                .head = "KV",
                                .unit = "(%)",
                                .width = 7,
                                .format = Format::percent};  ///< share of the KV cache
                                                             ///< that holds tokens, likewise
inline constexpr Column kKvMost{"kv_most"};  ///< share of pages that were taken at once, of the fullest replica
inline constexpr Column kPreemptions{"preemptions", "preempted", "", 10, Format::count};  ///< times that requests lost
                                                                                          ///< their pages
inline constexpr Column kIterations{"iterations"};                                        ///< of all replicas
inline constexpr Column kPrefillReplicas{
    .key = "prefill_replicas",
    .head = "prefill",
    .width = 7,
    .format = Format::count,
    .role = ColumnRole::choice};  ///< of pools: replicas that compute prompts; `replicas` are those that decode
inline constexpr Column kDecodeReplicas{.key = "decode_replicas",
                                        .head = "decode",
                                        .width = 6,
                                        .format = Format::count,
                                        .role = ColumnRole::choice};  ///< of pools: replicas that decode
inline constexpr Column kPrefillTensor{"prefill_tensor"};             ///< of pools: GPUs of a replica that prefills
inline constexpr Column kPrefillKvPages{"prefill_kv_pages"};          ///< of pools: of its KV cache
inline constexpr Column kPrefillBusy{
    "prefill_busy"};  ///< of pools: share of the time that replicas which prefill run iterations
inline constexpr Column kDecodeBusy{"decode_busy"};  ///< of pools: the same of those that decode
inline constexpr Column kPrefillKvMost{
    "prefill_kv_most"};  ///< of pools: share of pages that were taken or held at once, of the fullest that prefills
inline constexpr Column kKvTransferMean{
    .key = "kv_transfer_s_mean",
    .head = "KV sent",
    .unit = "(ms)",
    .width = 9,
    .format = Format::milliseconds,
    .shown = {.axis = "Transfer of keys and values"}};  ///< of pools: keys and values of a request, from when there is
                                                        ///< room for them until all are there
inline constexpr Column kKvTransferMedian{"kv_transfer_s_median"};  ///< median
inline constexpr Column kKvTransferP99{"kv_transfer_s_p99"};        ///< 99th percentile
inline constexpr Column kKvWaitMean{
    .key = "kv_wait_s_mean",
    .head = "KV wait",
    .unit = "(ms)",
    .width = 9,
    .format = Format::milliseconds};  ///< of pools: from the first token until keys and values are where it decodes,
                                      ///< waiting for pages included
inline constexpr Column kKvWaitP99{"kv_wait_s_p99"};  ///< 99th percentile
inline constexpr Column kKvSent{"kv_sent_gb"};        ///< of pools: keys and values that moved, 10^9 bytes
inline constexpr Column kDivisions{
    "divisions"};  ///< of pools whose division was searched: each with its share of requests within limits
inline constexpr Column kLatencyP5{.key = "latency_s_mean_p5",
                                   .head = "latency p5",
                                   .unit = "(ms)",
                                   .width = 11,
                                   .format = Format::milliseconds};  ///< of several seeds: 5th percentile
inline constexpr Column kLatencyP95{.key = "latency_s_mean_p95",
                                    .head = "p95",
                                    .unit = "(ms)",
                                    .width = 11,
                                    .format = Format::milliseconds};  ///< of several seeds: 95th percentile

}  // namespace athanor
