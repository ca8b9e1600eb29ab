#include "models/bill/read_price.hpp"

namespace athanor {

void read_price(Fields& fields, const char* key, std::optional<double>& figure, const char* meaning, Ratio least) {
  std::optional<Ratio> given;
  fields.optional(key, given, meaning, {least, {1'000'000'000'000'000, 1}});
  if (given) { figure = to_double(*given); }
}

void read_prices(Fields& fields, PriceList& prices) {
  read_price(fields, "node_usd", prices.node.usd,
             "US$ of a node with its GPUs and NICs, or of a host; absent: its preset's");
  read_price(fields, "node_w", prices.node.w, "Watts of it at most");
  read_price(fields, "switch_usd", prices.network_switch.usd, "US$ of a switch of the network; absent: its preset's");
  read_price(fields, "switch_w", prices.network_switch.w, "Watts of it");
  read_price(fields, "cable_usd", prices.cable.usd,
             "US$ of a network cable with its transceivers; absent: not counted");
  read_price(fields, "cable_w", prices.cable.w, "Watts of these transceivers");
}

}  // namespace athanor
