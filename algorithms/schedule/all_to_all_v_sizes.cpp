#include "algorithms/schedule/all_to_all_v_sizes.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/error.hpp"

namespace athanor {

AllToAllVSizes::AllToAllVSizes(std::uint32_t ranks, const std::vector<Elements>& sizes)
    : ranks_(ranks), inputs_(place(ranks, 0)), outputs_(place(ranks, 0)) {
  if (sizes.size() != std::size_t{ranks} * ranks) {
    throw ScenarioError(Problem{"wrong-sizes",
                                fmt::format("{} ranks exchange {} blocks, but the table of sizes has {}", ranks,
                                            std::size_t{ranks} * ranks, sizes.size()),
                                {},
                                "give one size for each sender and receiver, row by row"});
  }
  for (std::uint32_t from = 0; from < ranks; ++from) {
    for (std::uint32_t to = 0; to < ranks; ++to) {
      const Elements size = sizes[std::size_t{from} * ranks + to];
      if (size < Elements::zero()) {
        throw ScenarioError(
            Problem{"wrong-sizes",
                    fmt::format("the block from rank {} to rank {} has {} elements", from, to, size.count()),
                    {},
                    "a size is at least 0"});
      }
      inputs_[place(from, to + 1)] = inputs_[place(from, to)] + size;
      outputs_[place(to, from + 1)] = outputs_[place(to, from)] + size;
      largest_block_ = std::max(largest_block_, size);
    }
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const Elements most = std::max(input(rank), output(rank));
    largest_ = std::max(largest_, most);
    exchanged_ = std::max(exchanged_, most - size(rank, rank));
  }
}

}  // namespace athanor
