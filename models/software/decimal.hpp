#pragma once

#include <cstdint>

#include "sim/config/fields.hpp"

namespace athanor {

/// Decimal places of what visit_decimal() reads and writes.
constexpr std::int64_t kDecimalParts = 10'000;

/// A number with four digits behind the point that must be there, from `least` of these parts to `most` wholes.
void visit_decimal(Fields& fields, const char* key, double& number, std::int64_t least, std::int64_t most,
                   const char* meaning);

}  // namespace athanor
