#include "tools/cli/add_bill.hpp"

#include "sim/config/json_value.hpp"

namespace athanor {

Bill bill_of(const Case& scenario_case, const PriceList& published) {
  return bill_of(*scenario_case.platform.cluster, *scenario_case.cluster_text, scenario_case.prices, published);
}

void add_bill(const Case& scenario_case, const PriceList& published, std::vector<JsonValue>& records) {
  const JsonValue bill = bill_json(bill_of(scenario_case, published));
  for (JsonValue& record : records) { record.update(bill); }
}

}  // namespace athanor
