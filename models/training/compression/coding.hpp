#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/reduction.hpp"
#include "models/training/compression/compression.hpp"
#include "models/training/compression/low_rank.hpp"

namespace athanor {

/// Who takes part in a call of coded numbers.
enum class CodedGroup : std::uint8_t {
  all,    ///< that hold the same
  node,   ///< ... on one node
  nodes,  ///< one of each node: those at the same place in it
};

struct CodedCall {
  const char* label = "";
  CollectiveKind kind = CollectiveKind::all_reduce;
  double bytes = 0;  ///< as Collective::count counts
  DataType type = DataType::int8;
  CodedGroup group = CodedGroup::all;
};

/// Kernels of one GPU that read and write its memory, and the call that waits for them.
struct CodingStage {
  const char* label = "";
  double bytes = 0;    ///< read and written
  double kernels = 0;  ///< each dispatched by the host
  std::optional<CodedCall> call = {};
};

/// One after the other.
using CodingStages = std::vector<CodingStage>;

/// Gradients that are summed up at once.
struct GradientPart {
  double numbers = 0;
  LowRank low_rank = {};  ///< power_sgd: of those of them that are of matrices which shrink

  GradientPart& operator+=(const GradientPart& other);
};

GradientPart times(GradientPart part, double share);

/// Among whom, and in what they are.
struct CodingPlace {
  double ranks = 1;           ///< that hold the same
  double node_ranks = 1;      ///< of them on one node
  double gradient_bytes = 4;  ///< of a gradient as backward leaves it
};

/// All ranks get the sum of all. With N numbers of g bytes over P ranks, w bytes for one that is quantised:
/// - fp16, bf16: cast, all-reduce of 2 N, cast back.
/// - fp8, int8: all-to-all of w N, each rank adds up its part in fp32, all-gather of w N (the compressed all-reduce of
///   Tang et al. 2021, section 7, with 8 bits; DeepSpeed, CGX): each number is quantised twice.
/// - top_k: all-gather of P k (g + 4) with k = density x N values and their places in int32; the sum of sparse vectors
///   is made by every rank.
/// - power_sgd: all-reduce of what is no matrix, of all left factors, of all right ones (Vogels et al. 2019, algorithm
///   1, made orthogonal by Gram-Schmidt).
/// - one_bit_adam: all-to-all and all-gather of N / 8 bytes and a scale in fp32 of each rank: of moments in fp32.
/// Requires a kind among these.
CodingStages coded_all_reduce(const Compression& compression, const GradientPart& part, const CodingPlace& place);

/// Each rank gets its part of the sum: fp16, bf16 by reduce-scatter; fp8, int8 by the all-to-all alone; qgZ by two of
/// int4, first within nodes and then between them (Wang et al. 2023, section 3.3). Requires one of them.
CodingStages coded_reduce_scatter(const Compression& compression, const GradientPart& part, const CodingPlace& place);

/// qwZ: all ranks get parameters that take `bytes` as they are kept, `bytes_of_each` a number, by int8.
CodingStages coded_gather(const Compression& compression, double bytes, double bytes_of_each, const CodingPlace& place);

/// Bytes that one rank sends at least: of S bytes 2 (P - 1) / P in an all-reduce, (P - 1) / P in the others.
double sent_bytes(const CodedCall& call, const CodingPlace& place);
double sent_bytes(const CodingStages& stages, const CodingPlace& place);

}  // namespace athanor
