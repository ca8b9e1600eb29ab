#include "tools/command_line/compare/add_bill.hpp"

namespace athanor {

Bill bill_of(const Case& scenario_case, const PriceList& published) {
  return bill_of(*scenario_case.cluster, *scenario_case.cluster_text, scenario_case.prices, published);
}

void add_bill(const Case& scenario_case, const PriceList& published, std::vector<nlohmann::ordered_json>& records) {
  const nlohmann::ordered_json bill = bill_json(bill_of(scenario_case, published));
  for (nlohmann::ordered_json& record : records) { record.update(bill); }
}

}  // namespace athanor
