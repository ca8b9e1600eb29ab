#pragma once

#include <span>
#include <string>

#include "models/software/pooled_figure.hpp"
#include "sim/config/json_value.hpp"

namespace athanor {

/// A pool among the rows of a listing; `file` is what it is read from.
JsonValue pool_row(const JsonValue& file, std::span<const PooledFigure> figures);

/// Its name, what it was fitted on, and the parts that it tells apart, in lines.
std::string pool_heading(const JsonValue& row);

/// "-6..+13": % off, of multiples of the predicted time.
std::string off_text(double low, double high);

}  // namespace athanor
