#pragma once

#include "algorithms/formats/msccl_document.hpp"
#include "algorithms/formats/table_schedule.hpp"

namespace athanor {

/// A document as a table: a lane per thread block, a primitive per step. Nothing is finished yet and one slot is
/// assumed. In place an input chunk that is an output chunk is called by the latter. Throws ScenarioError, with lines:
/// connections without their other end or joined twice, cells outside the collective's buffers, chunks that the gpus
/// do not divide.
Table table_of(const MscclDocument& document, bool in_place);

}  // namespace athanor
