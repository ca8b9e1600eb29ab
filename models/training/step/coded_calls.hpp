#pragma once

#include <cstdint>

#include "models/training/compression/coding.hpp"
#include "models/training/step/pieces.hpp"
#include "models/training/step/stage_writer.hpp"

namespace athanor {

/// Communicators of the ranks that hold the same, by CodedGroup.
struct CodedGroups {
  std::uint32_t all = 0;
  std::uint32_t node = 0;
  std::uint32_t nodes = 0;
};

/// How long the kernels of a stage take.
Time time_of(const CodingStage& stage, const CodingRate& rate);

/// Kernels and calls one after the other on one stream, beside what is computed. Returns what the last of them is;
/// `after` where there are none.
StageWriter::Numbers write_coded(StageWriter& writer, std::uint16_t stream, const CodingStages& stages,
                                 const CodedGroups& groups, const CodingRate& rate, StageWriter::Numbers after);

}  // namespace athanor
