#pragma once

#include <optional>
#include <string_view>

#include "tools/import/fabric/draft.hpp"

namespace athanor {

/// Payload bits of one direction after the line code, for "4xHDR" (200 Gb/s), "4xEDR" (100), "1xSDR" (2): lanes times
/// the rate of one. None for what is no such word.
std::optional<Bandwidth> infiniband_rate(std::string_view word);

/// The output of ibnetdiscover: every port of a channel adapter with a cable becomes a host, every switch a switch (a
/// leaf where an adapter is on it, then spines, then cores). Each cable stands there from both ends; both must agree.
/// `latency`: of each link, the forwarding of the switch included. Aggregation nodes of SHARP, routers' and adapters'
/// ports without a cable are left out, with a note. Problems: devices that come twice, cables to nowhere or with
/// another far end than that end says, words that are no rate.
void import_ibnetdiscover(std::string_view text, Time latency, FabricDraft& draft);

}  // namespace athanor
