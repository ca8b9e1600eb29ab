#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/training/parallel_plan.hpp"
#include "sim/units.hpp"

namespace athanor {

/// Something that one GPU computes: what of it there is to do, not how long it takes.
struct Kernel {
  enum class Kind : std::uint8_t {
    gemm,       ///< `count` products of (m x k) by (k x n)
    attention,  ///< fused: `flops`, and `bytes` of memory; n tokens that one attends to, of heads of k elements
    memory,     ///< element-wise and the like: `bytes` read and written
  };
  Kind kind = Kind::memory;
  const char* label = "";  ///< "qkv", "attention", "norm": a literal
  Precision precision = Precision::bf16;
  double count = 1;  ///< not always whole: an average of tokens per expert
  double m = 0;
  double n = 0;
  double k = 0;
  bool unaligned = false;  ///< of gemm: rows of a matrix are no whole 16 bytes
  double filling = 0;      ///< of attention: attended tokens that take as long as what surrounds the loop over them
  double launches = 1;     ///< kernels that it is, each dispatched by the host
  double flops = 0;        ///< of gemm: 2 count m n k
  double bytes = 0;
};

using Kernels = std::vector<Kernel>;

}  // namespace athanor
