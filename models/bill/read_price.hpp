#pragma once

#include <optional>

#include "models/bill/bill.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

/// US$, watts and the like, from `least` on; absent: not known.
void read_price(Fields& fields, const char* key, std::optional<double>& figure, const char* meaning,
                Ratio least = {0, 1});

/// The "prices" of a scenario: the node's, the switch's and the cable's.
void read_prices(Fields& fields, PriceList& prices);

}  // namespace athanor
