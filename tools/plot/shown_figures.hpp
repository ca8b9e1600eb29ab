#pragma once

#include "sim/config/json_value.hpp"

namespace athanor {

/// What scripts of tools/plot/python are told of columns of results, as they are declared. Of each
/// {"key"
///  "report": "word", "figure", "remark" or "": not in its tables, "head", "factor", "decimals": of these tables
///  "axis": of plots, "share": in percent there, "microseconds": of one unit of a time, absent where it is none
///  "time", "rate": ColumnRole::time and ColumnRole::rate, "beside_time": Shown::beside_time}.
JsonValue shown_figures();

}  // namespace athanor
