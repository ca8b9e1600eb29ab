#pragma once

#include "models/training/compression/coding.hpp"

namespace athanor {

/// Bytes that a rank keeps from one step to the next beside gradients: what was not sent (top_k, power_sgd, in the
/// gradients' precision; one_bit_adam in fp32, of all its numbers and once more of its part of the sum), and factors
/// from which the next begin (power_sgd).
double kept_for_coding(const Compression& compression, const GradientPart& all, const CodingPlace& place);

/// Bytes that coded numbers take while `part` is summed up: sent and received, and copies that are worked on.
double coding_buffers(const Compression& compression, const GradientPart& part, const CodingPlace& place);

}  // namespace athanor
