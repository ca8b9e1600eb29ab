#include "models/mpi/mvapich2_tables.hpp"

#include <algorithm>
#include <bit>

// Measured by the authors of MVAPICH2 on one cluster, RI2: two Xeon E5-2680 v4 of 14 cores on a node, InfiniBand EDR.
// Those for processes that read each other's memory (CMA), as the library comes. From src/mpi/coll/tuning/*/
// gen2_cma_RI2_*ppn.h: all-reduce of 2.3.6 (https://github.com/kumattau/mvapich2), the others of 2.3.3
// (https://github.com/FSU-CS-EXPLORER-LAB/CryptMPI_2022).
namespace athanor {

namespace {

/// The table for as many ranks on a node or the next more; the last, for more than any has; the middle one where nodes
/// have unlike numbers.
const NodeLetters& table_of(const Mvapich2Table& table, const MpiCall& call) {
  if (!call.uniform) { return table.nodes[table.nodes.size() / 2]; }
  const auto found = std::find_if(table.nodes.begin(), table.nodes.end(),
                                  [&](const NodeLetters& each) { return call.most_ranks_per_node <= each.per_node; });
  return found == table.nodes.end() ? table.nodes.back() : *found;
}

/// How many doublings of the first lead to a value, without its fraction; held between the first and the last entry.
std::size_t doublings(std::uint64_t first, std::uint64_t value, std::size_t entries) {
  if (value < first) { return 0; }
  return std::min(static_cast<std::size_t>(std::bit_width(value) - std::bit_width(first)), entries - 1);
}

}  // namespace

char letter_of(const Mvapich2Table& table, const MpiCall& call, Bytes bytes) {
  const std::vector<RankLetters>& rows = table_of(table, call).rows;
  const bool beyond = call.ranks > rows.back().ranks;
  const std::size_t row = beyond ? rows.size() - 1 : doublings(rows.front().ranks, call.ranks, rows.size());
  const std::string_view letters = rows[row].letters;
  return letters[doublings(static_cast<std::uint64_t>(table.first), static_cast<std::uint64_t>(bytes.count()),
                           letters.size())];
}

/// Of all bytes. d: pt2pt_rd, s: pt2pt_rs, g: pt2pt_ring.
Mvapich2Table mvapich2_all_reduce() {
  return {4,
          {{1,
            {{2, "sSDSDSDdDSddDSSDsgg"},
             {4, "SsSDDDSSDSSSsdsssgg"},
             {8, "SDSDSSSSSSDdsssssgg"},
             {16, "SSSSDDSSSSSdsssssss"},
             {32, "SSDDSDSDDdSssssssgg"}}},
           {2,
            {{2, "sdddSdddddddsdssdsg"},
             {4, "SDDDDDDDDDDdsssSssg"},
             {8, "SDDDDDDDDDDSsssSssg"},
             {16, "dsdDDDDDDDDSsssSssg"},
             {32, "DSSSDDDDDDDSsssSsSg"},
             {64, "DDDSDDDDDDDSssssssg"}}},
           {4,
            {{4, "sdDsSDSDDSdssDssssg"},
             {8, "ssDDDDDDDDSsssssssg"},
             {16, "SDDDDdDDDDDsssssssg"},
             {32, "DSDDDDDDDDDssssssss"},
             {64, "DDSDDDDDDDsssssssss"}}},
           {8,
            {{8, "DDSSDSSSDdssssssssg"},
             {16, "DDDDDDDDDDssssssssg"},
             {32, "DSDDDDDDDDsssssssss"},
             {64, "DSSDDDDDDDsssssssss"},
             {128, "ddssssddddsssssssss"}}},
           {16,
            {{16, "ddsddDddddssssssssg"},
             {32, "dddDDDDDDDssssssssg"},
             {64, "DDDDDDDDDDdssssssss"},
             {128, "dssddssdddsssssssss"},
             {256, "ssdsddsdddsssssssss"}}},
           {28,
            {{28, "DSDSDSSSSSssssssssg"},
             {56, "DDDDDDDDDDDsssssssg"},
             {112, "DDDDDDDDDDDsssssssg"},
             {224, "SDDDDDDDDDDdssssssg"},
             {448, "DDSDDDDDDDDDsssssss"},
             {896, "DDSSDDDDDDDDssssssg"}}}}};
}

/// Of the bytes for one other rank. r: rd, b: bruck, s: scatter_dest, p: pairwise.
Mvapich2Table mvapich2_all_to_all() {
  return {1,
          {{1, {{2, "pppppppppppppppp"}, {4, "ssssssssssssssss"}, {8, "rrrrssssssssssss"}, {16, "rrrrrrbbbsssssss"}}},
           {2,
            {{2, "pppppppppppppppp"},
             {4, "ssssssssssssssss"},
             {8, "rrrsssssssssssss"},
             {16, "rrrrrrbbbsssssss"},
             {32, "rrrrrbbbbbssssss"}}},
           {4,
            {{4, "rrrpppspsspppppp"},
             {8, "rrrrrrssssssssss"},
             {16, "rrrrrrbbbsssssss"},
             {32, "rrrrrbbbbsssssss"},
             {64, "rrrbbbbbbsssssss"}}},
           {8,
            {{8, "rrrrrrsssssspsss"},
             {16, "rrrrrrbbbsssssss"},
             {32, "rrrrrbbbbsssssss"},
             {64, "rrrbbbbbbsssssss"},
             {128, "rbbbbbbbbsssssss"}}},
           {16,
            {{16, "rrrrrrssssssssss"},
             {32, "rrrbbbbbbsssssss"},
             {64, "rrbbbbbbbssssssp"},
             {128, "bbbbbbbbbbssssss"},
             {256, "bbbbbbbbbbbsssss"}}},
           {28,
            {{28, "rrrbbbbbssssssss"},
             {56, "rrbbbbbbbbbpspps"},
             {112, "bbbbbbbbbbbsppss"},
             {224, "bbbbbbbbbbssppsp"},
             {448, "bbbbbbbbbbsspppp"}}}}};
}

/// Of the bytes of one rank. d: rd, c: rd_allgather_comm, b: bruck, g: ring.
Mvapich2Table mvapich2_all_gather() {
  return {1,
          {{1,
            {{2, "ddgdcgddgdddddggggggg"},
             {4, "cdcdcdcbccddddggggggg"},
             {8, "dddbdcddccddddggggggg"},
             {16, "bcdcdccdccddddggggggg"}}},
           {2,
            {{2, "dgdgbbggdgdgdgggggggg"},
             {4, "cdcddcccdddddgggggggg"},
             {8, "cccccccccccccdggggggg"},
             {16, "ddddccccddddddggggggg"},
             {32, "ccddddddddddddggggggg"}}},
           {4,
            {{4, "ddddddbdddddgdggggggg"},
             {8, "cccddccccdcdgcggggggg"},
             {16, "cddddcdcdcdggcggggggg"},
             {32, "dddddcdccdccgcggggggg"},
             {64, "ddddcddcdcccccggggggg"}}},
           {8,
            {{8, "cbdbbdbddddggdggggggg"},
             {16, "cccddccccccggcggggggg"},
             {32, "ccccccccccccccggggggg"},
             {64, "dddcccccccccgcggggggg"},
             {128, "dddddcccccccgcggggggg"}}},
           {16,
            {{16, "bdbbbbbbbbdggdggggggg"},
             {32, "dccdcccccccggcggggggg"},
             {64, "dddccccccccggcggggggg"},
             {128, "cdddcccccccggcggggggg"},
             {256, "ddccccdcccccggggggggg"}}},
           {28,
            {{28, "bbbbcdddddggggggggggg"},
             {56, "dddcdcccccggggggggggg"},
             {112, "dcccccccccggggggggggg"},
             {224, "dbcccccccccgggggggggg"},
             {448, "cddccccccccgggggggggg"}}}}};
}

/// Of all bytes; with one rank on a node, which below 1 KiB does not look here. b: binomial, k: knomial, r:
/// scatter_ring_allgather, s: scatter_ring_allgather_shm, d: scatter_doubling_allgather, p: pipelined, z:
/// pipelined_zcpy.
Mvapich2Table mvapich2_broadcast() {
  return {
      1024,
      {{1, {{2, "ddkkdsdpzzr"}, {4, "zpszrdsdsrz"}, {8, "zzpdkrzrdrz"}, {16, "rzrzbdbrrdd"}, {32, "bzrrbdddsbr"}}}}};
}

/// Of all bytes; as for broadcast. b: binomial, k: inter_knomial, g: redscat_gather.
Mvapich2Table mvapich2_reduce() {
  return {
      1024,
      {{1, {{2, "gkbggkkkkkk"}, {4, "kbbbkkkbbbb"}, {8, "gkkbkkkkbbb"}, {16, "bgkbkkkbbbb"}, {32, "kkbbkkkbbbb"}}}}};
}

/// Of the bytes of one rank. b: binomial, d: direct.
Mvapich2Table mvapich2_scatter() {
  return {1,
          {{1,
            {{2, "BDbBDdBDDbBDDDBBBbbBB"},
             {4, "ddddddddddddddddddddd"},
             {8, "ddddddddddddddddddddd"},
             {16, "dDbBddddddddddddddddd"},
             {32, "DDBBBBBDDdddddddddddd"}}},
           {2,
            {{2, "bbbbbbbbbbbbbbbbbbbbb"},
             {4, "bbbbbbdbddddddddddddd"},
             {8, "DDDDDDDdDDddddddddddd"},
             {16, "DDDDDDDDDDDdddddddddd"},
             {32, "BbBbbDDDDDDDDdddddddd"},
             {64, "BbbBBBbbDDDDDDddddddd"}}},
           {4,
            {{4, "bbbbbbbbbbdddDBBBdDdB"},
             {8, "bbbbBdbbbbddddddddddd"},
             {16, "DDDDDDDDDDddddddddddd"},
             {32, "DDDDDDDDDDDDddddddddd"},
             {64, "DDbDDDDDDDDDDdddddddd"}}},
           {8,
            {{8, "ddbbddBbbbDBdDBBDDDBd"},
             {16, "bbBbbbbbbdddddddddddd"},
             {32, "DDDDDDDDDDDdddddddddd"},
             {64, "DDDDDDDDDDDDDdddddddd"},
             {128, "DDDDDDDDDDDDDdddddddd"}}},
           {16,
            {{16, "dddDdddDdDDddBDdddBDB"},
             {32, "bBBbBbbbBbddddddddddd"},
             {64, "DDDDDDDDDDDDddddddddd"},
             {128, "bDDDDDDDDDDDDdddddddd"},
             {256, "DbDDbDDDDDDDDDddddddd"}}},
           {28,
            {{28, "bbbbbbbbbbDdBddDDDDBB"},
             {56, "DDBBDBBbbbddddddddddd"},
             {112, "DDDDDDDDDDDDddddddddd"},
             {224, "BDDDDDDDDDDDDDddddddd"},
             {448, "DDDDDDDDDDDDDDddddddd"},
             {896, "BbbbDDDDDDDDDDddddddd"}}}}};
}

}  // namespace athanor
