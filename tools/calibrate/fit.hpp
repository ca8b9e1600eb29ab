#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/shared_memory/thread_costs.hpp"
#include "tools/calibrate/timing.hpp"

namespace athanor {

/// What a fit begins with, and how much it measures.
struct FitSettings {
  std::vector<Bytes> private_caches;  ///< of one processor, from the nearest on
  std::uint32_t processors = 2;
  std::vector<std::uint32_t> ranks{2, 4, 8};
  Bytes largest = Bytes{256} * (1 << 20);  ///< working set, beyond all caches
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

/// One measured run that the fit was not told of.
struct HeldOut {
  std::string collective;
  std::string algorithm;
  std::uint32_t ranks = 0;
  Bytes bytes;
  double measured_us = 0;
  double simulated_us = 0;
};

struct HoldOutError {
  double median = 0;  ///< of |simulated / measured - 1|
  double worst = 0;
};
HoldOutError error_of(const std::vector<HeldOut>& rows);

/// Finds what threads cost on a machine, in this order:
///  1. the rates of caches and memory, and how much the last cache really keeps, each from copies over a working set
///     that only it holds: the value with which the model takes as long as was measured;
///  2. what collectives of 256 B cost on one processor, where nothing waits (start, lane, turn, primitive, port): the
///     least sum of |log(simulated / measured)| over reduce-scatter, all-gather, broadcast, reduce and all-to-all by
///     all their algorithms, found by shrinking steps;
///  3. remote_port from a stream of empty messages, notice from a ping-pong, meeting from one message;
///  4. bytes that another processor has written, and falling asleep, from probes of two ranks.
/// Nothing is fitted on all-reduce, which is left for verification.
ThreadCosts fit_thread_costs(Timing& machine, const FitSettings& settings);

/// Collectives as in 2 and 3, but larger, up to 4 MiB: what the fit has not seen.
std::vector<HeldOut> hold_out(Timing& machine, const ThreadCosts& costs, const FitSettings& settings);

}  // namespace athanor
