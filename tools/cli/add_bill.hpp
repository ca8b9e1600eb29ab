#pragma once

#include <vector>

#include "models/bill/bill.hpp"
#include "models/experiments/scenario/scenario.hpp"
#include "sim/config/json_value.hpp"

namespace athanor {

/// What the case's cluster is made of, with what presets and the scenario say of prices.
Bill bill_of(const Case& scenario_case, const PriceList& published);

/// The keys of bill_json() of the results' case, for each result.
void add_bill(const Case& scenario_case, const PriceList& published, std::vector<JsonValue>& records);

}  // namespace athanor
