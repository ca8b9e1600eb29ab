#pragma once

#include <optional>

#include "models/bill/bill.hpp"
#include "sim/config/object_reader.hpp"

namespace athanor {

/// US$, watts and the like, from `least` on; absent: not known.
void read_price(ObjectReader& reader, const char* key, std::optional<double>& figure, const char* meaning,
                Ratio least = {0, 1});

/// The "prices" of a scenario: the node's, the switch's and the cable's.
void read_prices(ObjectReader& reader, PriceList& prices);

}  // namespace athanor
