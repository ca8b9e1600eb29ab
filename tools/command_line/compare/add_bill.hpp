#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "tools/bill/bill.hpp"
#include "tools/scenario/scenario.hpp"

namespace athanor {

/// What the case's cluster is made of, with what presets and the scenario say of prices.
Bill bill_of(const Case& scenario_case, const PriceList& published);

/// The keys of bill_json() of the results' case, for each result.
void add_bill(const Case& scenario_case, const PriceList& published, std::vector<nlohmann::ordered_json>& records);

}  // namespace athanor
