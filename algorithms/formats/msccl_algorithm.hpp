#pragma once

#include <memory>

#include "algorithms/catalog.hpp"
#include "algorithms/formats/msccl_import.hpp"

namespace athanor {

/// An imported algorithm as one of those that scenarios and commands choose from, under the name that its file gives
/// it. Its channels are those of the file; of a layout, chunk and slices count: a loop moves one slice of a chunk.
Algorithm as_algorithm(const std::shared_ptr<const ImportedAlgorithm>& imported);

}  // namespace athanor
