#pragma once

#include "models/training/compression/compression.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

/// "compression" of a plan. What a kind does not have is refused.
void read_compression(Fields& fields, Compression& compression);

}  // namespace athanor
