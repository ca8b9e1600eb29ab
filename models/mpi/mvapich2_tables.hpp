#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/mpi/choice.hpp"

namespace athanor {

/// What a number of ranks takes: a letter, of an algorithm, for each power of two of bytes from the first of its table
/// on. A capital: reduced or gathered within nodes, and by that algorithm between them.
struct RankLetters {
  std::uint32_t ranks = 0;
  std::string_view letters;
};

/// With so many ranks on every node, by rising numbers of all ranks.
struct NodeLetters {
  std::uint32_t per_node = 0;
  std::vector<RankLetters> rows;
};

/// A table of MVAPICH2's "indexed tuning", by rising numbers of ranks on a node.
struct Mvapich2Table {
  std::int64_t first = 1;  ///< bytes of the first letter
  std::vector<NodeLetters> nodes;
};

/// The letter that MVAPICH2 finds: of the next lower power of two, of ranks as of bytes, within those that the table
/// has.
char letter_of(const Mvapich2Table& table, const MpiCall& call, Bytes bytes);

/// Those for InfiniBand EDR and HDR with any processor that has no table of its own.
Mvapich2Table mvapich2_all_reduce();
Mvapich2Table mvapich2_all_to_all();
Mvapich2Table mvapich2_all_gather();
Mvapich2Table mvapich2_broadcast();  ///< with one rank on a node alone
Mvapich2Table mvapich2_reduce();     ///< with one rank on a node alone
Mvapich2Table mvapich2_scatter();

}  // namespace athanor
