#include "models/bill/read_price.hpp"

namespace athanor {

void read_price(ObjectReader& reader, const char* key, std::optional<double>& figure, const char* meaning,
                Ratio least) {
  std::optional<Ratio> given;
  reader.optional(key, given, meaning, {least, {1'000'000'000'000'000, 1}});
  if (given) { figure = to_double(*given); }
}

void read_prices(ObjectReader& reader, PriceList& prices) {
  read_price(reader, "node_usd", prices.node.usd,
             "US$ of a node with its GPUs and NICs, or of a host; absent: its preset's");
  read_price(reader, "node_w", prices.node.w, "Watts of it at most");
  read_price(reader, "switch_usd", prices.network_switch.usd, "US$ of a switch of the network; absent: its preset's");
  read_price(reader, "switch_w", prices.network_switch.w, "Watts of it");
  read_price(reader, "cable_usd", prices.cable.usd,
             "US$ of a network cable with its transceivers; absent: not counted");
  read_price(reader, "cable_w", prices.cable.w, "Watts of these transceivers");
}

}  // namespace athanor
