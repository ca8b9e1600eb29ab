#pragma once

#include "models/experiments/record.hpp"

namespace athanor {

// What results of layouts have.

inline constexpr Column kLayoutMesh{.key = "mesh",
                                    .role = ColumnRole::subject,
                                    .shown = {.in_reports = Shown::Report::word}};  ///< axes with their sizes
inline constexpr Column kLayoutGpu{"gpu"};                                          ///< preset of the GPUs
inline constexpr Column kLayoutDevices{
    .key = "gpus",
    .role = ColumnRole::choice,
    .shown = {.in_reports = Shown::Report::word, .report_head = "GPUs"}};  ///< how many
inline constexpr Column kLayoutStrategy{.key = "strategy",
                                        .head = "strategy",
                                        .width = 10,
                                        .format = Format::word,
                                        .role = ColumnRole::choice};  ///< `propagated` or `searched`
inline constexpr Column kLayoutTime{
    .key = "time_ms",
    .head = "time",
    .unit = "(ms)",
    .width = 10,
    .role = ColumnRole::time,
    .shown = {.in_sweeps = true,
              .in_reports = Shown::Report::figure,
              .axis = "Time"}};  ///< of all operators and collectives, one after the other
inline constexpr Column kLayoutForward{
    .key = "forward_ms", .head = "forward", .unit = "(ms)", .width = 10};  ///< of these, in forward
inline constexpr Column kLayoutBackward{
    .key = "backward_ms", .head = "backward", .unit = "(ms)", .width = 10};  ///< in backward, gradients of parameters
                                                                             ///< and what gathers parameters again
inline constexpr Column kLayoutCompute{.key = "compute_ms",
                                       .head = "compute",
                                       .unit = "(ms)",
                                       .width = 10,
                                       .shown = {.in_sweeps = true}};  ///< of operators
inline constexpr Column kLayoutCommunication{
    .key = "communication_ms",
    .head = "comm.",
    .unit = "(ms)",
    .width = 10,
    .shown = {.in_sweeps = true, .in_reports = Shown::Report::figure}};  ///< of inserted collectives
inline constexpr Column kLayoutCollectives{
    .key = "collectives", .head = "inserted", .width = 9, .format = Format::count};  ///< inserted, of all repetitions
inline constexpr Column kLayoutMemory{.key = "memory_gb",
                                      .head = "memory",
                                      .unit = "(GB)",
                                      .width = 9,
                                      .shown = {.in_sweeps = true}};  ///< of one device: the three below together
inline constexpr Column kLayoutParameters{"parameters_gb"};    ///< parameters; in training with gradients and optimizer
inline constexpr Column kLayoutActivations{"activations_gb"};  ///< in training, tensors that backward reads
inline constexpr Column kLayoutWorking{"working_gb"};          ///< most that an operator reads and writes
inline constexpr Column kLayoutBound{"bound_ms"};     ///< no strategies of those that may be chosen take less time
inline constexpr Column kLayoutChoices{"choices"};    ///< strategies of all operators together
inline constexpr Column kLayoutInserted{"inserted"};  ///< a list: conversions of tensors, each explained, as below
inline constexpr Column kLayoutChosen{"chosen"};  ///< a list: `tensor` and the `layout` that its operator leaves it in

}  // namespace athanor
