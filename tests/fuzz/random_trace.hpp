#pragma once

#include "tests/fuzz/draws.hpp"

namespace athanor::fuzz {

/// Hosts on one switch, and a trace of messages and collectives that all begin at once. The trace stands under
/// "trace/own", and what its busiest host needs for its bytes, with a latency behind them, under "trace/bound_ps";
/// whoever runs the scenario writes the trace beside it.
Json random_own_trace(Draws& draws);

/// The same scenario as Athanor reads it, with the trace in that file of its folder.
Json with_trace_in(const Json& scenario, const std::string& file);

}  // namespace athanor::fuzz
