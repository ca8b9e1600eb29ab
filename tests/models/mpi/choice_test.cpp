#include "models/mpi/choice.hpp"

#include <cstdint>
#include <string>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "algorithms/catalog.hpp"

using namespace athanor;

namespace {

const MpiLibrary kOld{"open-mpi", "4.0"};
const MpiLibrary kNew{"open-mpi", "4.1"};
const MpiLibrary kMpich{"mpich", "3.2"};
const MpiLibrary kMvapich{"mvapich2", "2.3"};

std::string taken(const MpiLibrary& library, CollectiveKind kind, std::uint32_t ranks, std::int64_t bytes,
                  std::uint32_t per_node = 1) {
  return mpi_choice(library, {kind, ranks, per_node, Bytes{bytes}, Bytes{4}}).own;
}

/// What is taken just below a size, and at it.
std::string around(const MpiLibrary& library, CollectiveKind kind, std::uint32_t ranks, std::int64_t bytes,
                   std::uint32_t per_node = 1) {
  return taken(library, kind, ranks, bytes - 4, per_node) + " | " + taken(library, kind, ranks, bytes, per_node);
}

}  // namespace

TEST_CASE("libraries and releases of MPI are named") {
  CHECK(mpi_names() == std::vector<std::string>{"open-mpi", "mpich", "mvapich2"});
  CHECK(mpi_releases("open-mpi") == std::vector<std::string>{"4.0", "4.1"});
  CHECK(mpi_releases("mpich") == std::vector<std::string>{"3.2"});
  CHECK(mpi_releases("mvapich2") == std::vector<std::string>{"2.3"});
  CHECK(mpi_releases("lam").empty());
}

TEST_CASE("Open MPI 4.1 changes its all-reduce at the sizes and ranks of its table") {
  const auto kind = CollectiveKind::all_reduce;
  CHECK(around(kNew, kind, 64, 262'144) == "recursive_doubling | rabenseifner");
  CHECK(around(kNew, kind, 127, 262'144) == "recursive_doubling | rabenseifner");
  CHECK(around(kNew, kind, 128, 131'072) == "nonoverlapping (binomial reduce, knomial broadcast) | recursive_doubling");
  CHECK(around(kNew, kind, 256, 4096) == "nonoverlapping (binomial reduce, knomial broadcast) | rabenseifner");
  CHECK(around(kNew, kind, 1792, 2048) == "nonoverlapping (binomial reduce, knomial broadcast) | recursive_doubling");
  CHECK(around(kNew, kind, 1792, 16'384) == "recursive_doubling | rabenseifner");
  CHECK(around(kNew, kind, 16, 4096) == "recursive_doubling | rabenseifner");
  CHECK(around(kNew, kind, 3, 262'144) == "segmented_ring | rabenseifner");
  CHECK(around(kNew, kind, 5000, 32'768) == "recursive_doubling | rabenseifner");
}

TEST_CASE("Open MPI 4.1 goes another way where there are fewer elements than an algorithm cuts") {
  const auto kind = CollectiveKind::all_reduce;
  CHECK(taken(kNew, kind, 32, 64) == "recursive_doubling");  // a ring of 16 elements over 32 ranks
  CHECK(taken(kNew, kind, 16, 32) == "recursive_doubling");
  CHECK(taken(kNew, kind, 4, 12) == "recursive_doubling");
  CHECK(taken(kNew, kind, 2, 4) == "recursive_doubling");
  CHECK(mpi_choice(kNew, {kind, 32, 1, Bytes{128}, Bytes{4}}).own == "rabenseifner");
  CHECK(mpi_choice(kNew, {kind, 32, 1, Bytes{128}, Bytes{8}}).own == "basic_linear");
  CHECK(taken(kNew, CollectiveKind::all_gather, 8, 64) == "recursive_doubling");
  CHECK(taken(kNew, CollectiveKind::all_gather, 7, 64) == "bruck");
  CHECK(taken(kNew, CollectiveKind::all_gather, 32, 32 * 1024) == "neighbor");
  CHECK(taken(kNew, CollectiveKind::all_gather, 33, 33 * 1024) == "ring");
}

TEST_CASE("Open MPI 4.1 decides by the bytes of one rank, or of all, as its tables say") {
  CHECK(taken(kNew, CollectiveKind::all_to_all, 64, 64 * 1020) == "modified_bruck");
  CHECK(taken(kNew, CollectiveKind::all_to_all, 64, 64 * 1024) == "linear");
  CHECK(taken(kNew, CollectiveKind::all_to_all, 2, 2 * 1048576) == "pairwise");
  CHECK(around(kNew, CollectiveKind::broadcast, 1500, 524'288) == "knomial | scatter_allgather");
  CHECK(around(kNew, CollectiveKind::reduce, 300, 8192) == "binomial | in-order_binary");
  CHECK(around(kNew, CollectiveKind::reduce_scatter, 16, 262'144) == "recursive_halving | ring");
  CHECK(taken(kNew, CollectiveKind::gather, 300, 300 * 2044) == "binomial");
  CHECK(taken(kNew, CollectiveKind::gather, 300, 300 * 2048) == "basic_linear");
  CHECK(taken(kNew, CollectiveKind::scatter, 100, 100 * 508) == "binomial");
  CHECK(taken(kNew, CollectiveKind::scatter, 100, 100 * 512) == "linear_nb");
  CHECK(taken(kNew, CollectiveKind::barrier, 63, 0) == "recursive_doubling");
  CHECK(taken(kNew, CollectiveKind::barrier, 64, 0) == "bruck");
  CHECK(taken(kNew, CollectiveKind::barrier, 256, 0) == "tree");
}

TEST_CASE("Open MPI 4.0 decides otherwise than 4.1") {
  CHECK(around(kOld, CollectiveKind::all_reduce, 64, 10'000) == "recursive_doubling | ring");
  CHECK(around(kOld, CollectiveKind::all_reduce, 4, 4 * 1048576 + 4) == "ring | segmented_ring");
  CHECK(taken(kOld, CollectiveKind::all_reduce, 5000, 10'000) ==
        "nonoverlapping (binomial reduce, split_bintree broadcast)");
  CHECK(around(kOld, CollectiveKind::broadcast, 64, 2048) == "binomial | split_bintree");
  CHECK(around(kOld, CollectiveKind::broadcast, 2, 370'728) == "split_bintree | pipeline");
  CHECK(mpi_choice(kOld, {CollectiveKind::broadcast, 2, 1, Bytes{370'728}, Bytes{4}}).segment == Bytes{131'072});
  CHECK(mpi_choice(kOld, {CollectiveKind::broadcast, 100, 1, Bytes{400'000}, Bytes{4}}).segment == Bytes{8192});
  CHECK(mpi_choice(kOld, {CollectiveKind::reduce, 64, 1, Bytes{2048}, Bytes{4}}).segment == Bytes{1024});
  CHECK(around(kOld, CollectiveKind::reduce_scatter, 9, 12 * 1024 + 4) == "recursive_halving | ring");
  CHECK(around(kOld, CollectiveKind::reduce_scatter, 8, 256 * 1024 + 4) == "recursive_halving | ring");
  CHECK(taken(kOld, CollectiveKind::all_gather, 8, 49'984) == "recursive_doubling");
  CHECK(taken(kOld, CollectiveKind::all_gather, 8, 50'016) == "neighbor");
  CHECK(taken(kOld, CollectiveKind::all_to_all, 13, 13 * 196) == "bruck");
  CHECK(taken(kOld, CollectiveKind::all_to_all, 13, 13 * 200) == "basic_linear");
  CHECK(taken(kOld, CollectiveKind::all_to_all, 13, 13 * 3000) == "pairwise");
  CHECK(taken(kOld, CollectiveKind::gather, 61, 61 * 6000) == "binomial");
  CHECK(taken(kOld, CollectiveKind::gather, 61, 61 * 6004) == "linear_sync");
  CHECK(taken(kOld, CollectiveKind::scatter, 11, 11 * 296) == "binomial");
  CHECK(taken(kOld, CollectiveKind::scatter, 11, 11 * 300) == "basic_linear");
  CHECK(taken(kOld, CollectiveKind::barrier, 16, 0) == "recursive_doubling");
  CHECK(taken(kOld, CollectiveKind::barrier, 17, 0) == "bruck");
}

TEST_CASE("MPICH decides by powers of two, short and long, and goes by nodes where ranks share one") {
  CHECK(taken(kMpich, CollectiveKind::all_reduce, 16, 2048) == "recursive_doubling");
  CHECK(taken(kMpich, CollectiveKind::all_reduce, 16, 2052) == "reduce_scatter_allgather");
  CHECK(taken(kMpich, CollectiveKind::all_reduce, 1024, 4092) == "recursive_doubling");  // fewer elements than ranks
  CHECK(taken(kMpich, CollectiveKind::all_reduce, 16, 2048, 4) == "smp");
  CHECK(taken(kMpich, CollectiveKind::all_reduce, 16, 2048, 16) == "recursive_doubling");  // one node alone
  CHECK(around(kMpich, CollectiveKind::broadcast, 8, 12'288) == "binomial | scatter_recursive_doubling_allgather");
  CHECK(around(kMpich, CollectiveKind::broadcast, 8, 524'288) ==
        "scatter_recursive_doubling_allgather | scatter_ring_allgather");
  CHECK(around(kMpich, CollectiveKind::broadcast, 9, 12'288) == "binomial | scatter_ring_allgather");
  CHECK(taken(kMpich, CollectiveKind::broadcast, 7, 1 << 24) == "binomial");
  CHECK(around(kMpich, CollectiveKind::all_gather, 8, 524'288) == "recursive_doubling | ring");
  CHECK(around(kMpich, CollectiveKind::all_gather, 9, 81'920) == "brucks | ring");
  CHECK(taken(kMpich, CollectiveKind::all_to_all, 8, 8 * 256) == "brucks");
  CHECK(taken(kMpich, CollectiveKind::all_to_all, 7, 7 * 256) == "scattered");
  CHECK(taken(kMpich, CollectiveKind::all_to_all, 8, 8 * 32'768) == "scattered");
  CHECK(taken(kMpich, CollectiveKind::all_to_all, 8, 8 * 32'772) == "pairwise");
  CHECK(around(kMpich, CollectiveKind::reduce_scatter, 8, 524'288) == "recursive_halving | pairwise");
}

TEST_CASE("MVAPICH2 decides small and large all-reduces before its tables, by ranks on a node") {
  const auto kind = CollectiveKind::all_reduce;
  CHECK(taken(kMvapich, kind, 16, 2048) == "pt2pt_rd");
  CHECK(taken(kMvapich, kind, 16, 2052) == "pt2pt_rs");
  CHECK(taken(kMvapich, kind, 112, 2048, 28) == "topo_aware_hierarchical");
  CHECK(taken(kMvapich, kind, 112, 2052, 28) == "two_level (pt2pt_rd between nodes)");
  CHECK(around(kMvapich, kind, 16, 2 << 20) == "pt2pt_rs | pt2pt_ring");
  CHECK(taken(kMvapich, kind, 64, 2 << 20, 8) == "pt2pt_ring");
  CHECK(taken(kMvapich, kind, 64, 2 << 20, 9).find("ring_2lvl reduce_scatter") == 0);
  CHECK(mpi_choice(kMvapich, {kind, 64, 16, Bytes{4 << 20}, Bytes{4}}).algorithm == "ring");
  CHECK(mpi_choice(kMvapich, {kind, 48, 16, Bytes{4 << 20}, Bytes{4}}).algorithm.empty());  // blocks are not alike
  CHECK(taken(kMvapich, kind, 16, 2048, 4) == "topo_aware_hierarchical");
  CHECK(mpi_choice(kMvapich, {kind, 128, 28, Bytes{2048}, Bytes{4}, false}).own ==
        "pt2pt_rd");  // unlike nodes: by table
}

TEST_CASE("MVAPICH2 takes the table of the next lower powers of two, in bytes as in ranks") {
  const auto kind = CollectiveKind::all_reduce;
  CHECK(around(kMvapich, kind, 8, 16'384) == "pt2pt_rd | pt2pt_rs");
  CHECK(around(kMvapich, kind, 15, 16'384) == "pt2pt_rd | pt2pt_rs");
  CHECK(around(kMvapich, kind, 16, 16'384) == "pt2pt_rd | pt2pt_rs");
  CHECK(around(kMvapich, kind, 31, 524'288) == "pt2pt_rs | pt2pt_rs");
  CHECK(around(kMvapich, kind, 32, 524'288) == "pt2pt_rs | pt2pt_ring");
  CHECK(around(kMvapich, kind, 5000, 524'288) == "pt2pt_rs | pt2pt_ring");
  CHECK(around(kMvapich, kind, 252, 8192, 28) == "two_level (pt2pt_rd between nodes) | pt2pt_rd");  // of the row of 224
  CHECK(around(kMvapich, kind, 448, 16'384, 28) == "two_level (pt2pt_rd between nodes) | pt2pt_rs");
  CHECK(around(kMvapich, kind, 532, 8192, 28) ==
        "two_level (pt2pt_rd between nodes) | two_level (pt2pt_rd between nodes)");  // of the row of 896
  CHECK(around(kMvapich, kind, 896, 16'384, 28) == "two_level (pt2pt_rd between nodes) | pt2pt_rs");
}

TEST_CASE("MVAPICH2 takes the table of as many ranks on a node, or of the next more") {
  const auto kind = CollectiveKind::all_reduce;
  CHECK(around(kMvapich, kind, 128, 4096, 8) == "pt2pt_rd | pt2pt_rs");
  CHECK(around(kMvapich, kind, 64, 4096, 8) == "two_level (pt2pt_rd between nodes) | pt2pt_rs");
  CHECK(around(kMvapich, kind, 64, 8192, 16) == "pt2pt_rd | pt2pt_rs");
  CHECK(around(kMvapich, kind, 64, 8192, 9) == "pt2pt_rd | pt2pt_rs");
  for (const std::uint32_t per_node : {17U, 28U, 56U, 112U}) {
    CAPTURE(per_node);
    CHECK(around(kMvapich, kind, 112, 8192, per_node) == "two_level (pt2pt_rd between nodes) | pt2pt_rs");
  }
  const MpiCall unlike{kind, 128, 28, Bytes{4096}, Bytes{4}, false};
  CHECK(mpi_choice(kMvapich, unlike) == mpi_choice(kMvapich, {kind, 128, 8, Bytes{4096}, Bytes{4}}));
}

TEST_CASE("MVAPICH2 goes by recursive doubling where an all-reduce has fewer elements than halves") {
  const auto kind = CollectiveKind::all_reduce;
  CHECK(mpi_choice(kMvapich, {kind, 1024, 1, Bytes{4092}, Bytes{4}}).algorithm == "recursive_doubling");
  CHECK(mpi_choice(kMvapich, {kind, 4096, 1, Bytes{16'384}, Bytes{4}}).algorithm == "halving_doubling");
  CHECK(mpi_choice(kMvapich, {kind, 4096, 1, Bytes{16'384}, Bytes{8}}).algorithm == "recursive_doubling");
}

TEST_CASE("MVAPICH2 decides by the bytes of one rank, or of all, as its tables say") {
  CHECK(taken(kMvapich, CollectiveKind::all_to_all, 4, 4 * 28) == "rd");
  CHECK(taken(kMvapich, CollectiveKind::all_to_all, 4, 4 * 32) == "bruck");
  CHECK(taken(kMvapich, CollectiveKind::all_to_all, 32, 32 * 12) == "rd");
  CHECK(taken(kMvapich, CollectiveKind::all_to_all, 32, 32 * 16) == "bruck");
  CHECK(taken(kMvapich, CollectiveKind::all_to_all, 32, 32 * 12, 16) == "bruck");
  CHECK(taken(kMvapich, CollectiveKind::all_to_all, 16, 16 * 1024) == "bruck");
  CHECK(taken(kMvapich, CollectiveKind::all_to_all, 16, 16 * 1028) == "scatter_dest");
  CHECK(taken(kMvapich, CollectiveKind::all_to_all, 448, 448 * 4092, 28) == "scatter_dest");
  CHECK(taken(kMvapich, CollectiveKind::all_to_all, 448, 448 * 4096, 28) == "pairwise");
  CHECK(mpi_choice(kMvapich, {CollectiveKind::all_to_all, 16, 5, Bytes{16 * 8}, Bytes{4}, false}).own == "rd");
  CHECK(mpi_choice(kMvapich, {CollectiveKind::all_to_all, 16, 5, Bytes{16 * 32}, Bytes{4}, false}).own == "rd");
  CHECK(mpi_choice(kMvapich, {CollectiveKind::all_to_all, 17, 5, Bytes{17 * 32}, Bytes{4}, false}).own == "pairwise");
  CHECK(taken(kMvapich, CollectiveKind::all_gather, 16, 16 * 16'380) == "rd");
  CHECK(taken(kMvapich, CollectiveKind::all_gather, 16, 16 * 16'384) == "ring");
  CHECK(taken(kMvapich, CollectiveKind::all_gather, 112, 112 * 1020, 28) == "rd_allgather_comm");
  CHECK(taken(kMvapich, CollectiveKind::all_gather, 112, 112 * 1024, 28) == "ring");
  CHECK(taken(kMvapich, CollectiveKind::scatter, 32, 32 * 508) == "direct");  // in two levels, of one rank each
  CHECK(taken(kMvapich, CollectiveKind::scatter, 32, 32 * 252) == "direct");
  CHECK(taken(kMvapich, CollectiveKind::scatter, 32, 32 * 124) == "binomial");
  CHECK(taken(kMvapich, CollectiveKind::scatter, 64, 64 * 8188, 8) == "two_level (direct between nodes)");
  CHECK(taken(kMvapich, CollectiveKind::scatter, 64, 64 * 8192, 8) == "direct");
  CHECK(mpi_choice(kMvapich, {CollectiveKind::scatter, 64, 9, Bytes{64 * 8188}, Bytes{4}, false}).own == "binomial");
  CHECK(taken(kMvapich, CollectiveKind::gather, 64, 64 * 8192, 8) == "binomial");
  CHECK(mpi_choice(kMvapich, {CollectiveKind::gather, 64, 9, Bytes{64}, Bytes{4}, false}).own.empty());
  CHECK(taken(kMvapich, CollectiveKind::barrier, 16, 0) == "pairwise");
  CHECK(taken(kMvapich, CollectiveKind::barrier, 16, 0, 4) == "two_level (pairwise between nodes)");
}

TEST_CASE(
    "recursive doubling of MVAPICH2's all-gather is the catalog's where its ranks are a power of two and in order") {
  const auto algorithm = [](std::uint32_t ranks, std::uint32_t per_node, std::int64_t block) {
    return mpi_choice(kMvapich, {CollectiveKind::all_gather, ranks, per_node, Bytes{ranks * block}, Bytes{1}});
  };
  CHECK(algorithm(16, 1, 4) == MpiChoice{"rd", "recursive_doubling"});
  CHECK(algorithm(17, 1, 4) == MpiChoice{"rd", ""});
  CHECK(algorithm(16, 1, 8) == MpiChoice{"rd_allgather_comm", "recursive_doubling"});
  CHECK(algorithm(32, 8, 8) == MpiChoice{"rd_allgather_comm", ""});
  CHECK(algorithm(8, 8, 1) == MpiChoice{"rd_allgather_comm", "recursive_doubling"});  // one node alone
  CHECK(algorithm(16, 1, 1) == MpiChoice{"bruck", "bruck"});
}

TEST_CASE("MVAPICH2 scatters reductions by thresholds, and in a ring from 128 KiB on") {
  const auto kind = CollectiveKind::reduce_scatter;
  CHECK(around(kMvapich, kind, 8, 260) == "basic | recursive_halving");
  CHECK(around(kMvapich, kind, 8, 16'388) == "recursive_halving | pairwise");
  CHECK(around(kMvapich, kind, 8, 65'540) == "pairwise | ring_2lvl");
  CHECK(around(kMvapich, kind, 9, 68) == "basic | recursive_halving");
  CHECK(around(kMvapich, kind, 16, 65'540) == "recursive_halving | ring_2lvl");
  CHECK(around(kMvapich, kind, 17, 131'072) == "recursive_halving | ring_2lvl");
  CHECK(around(kMvapich, kind, 64, 1028) == "basic | recursive_halving");
  CHECK(around(kMvapich, kind, 65, 132) == "basic | recursive_halving");
  CHECK(around(kMvapich, kind, 257, 260) == "basic | recursive_halving");
  CHECK(around(kMvapich, kind, 5000, 131'072) == "recursive_halving | ring_2lvl");
}

TEST_CASE("of rooted collectives of several ranks on a node MVAPICH2's rules are known only for small ones") {
  for (const CollectiveKind kind : {CollectiveKind::broadcast, CollectiveKind::reduce}) {
    CHECK(taken(kMvapich, kind, 16, 1024, 4).find("two_level") == 0);
    CHECK(taken(kMvapich, kind, 16, 1028, 4).empty());
  }
  CHECK(around(kMvapich, CollectiveKind::broadcast, 16, 16'384) == "pipelined_zcpy | binomial");
  CHECK(around(kMvapich, CollectiveKind::broadcast, 16, 131'072) == "binomial | scatter_ring_allgather");
  CHECK(around(kMvapich, CollectiveKind::broadcast, 8, 16'384) == "scatter_doubling_allgather | knomial");
  CHECK(taken(kMvapich, CollectiveKind::broadcast, 16, 1024) == "pipelined_zcpy");
  CHECK(taken(kMvapich, CollectiveKind::broadcast, 16, 1028) == "scatter_ring_allgather");
  CHECK(taken(kMvapich, CollectiveKind::reduce, 16, 8192) == "zcpy");
  CHECK(taken(kMvapich, CollectiveKind::reduce, 16, 8196) == "binomial");
  CHECK(around(kMvapich, CollectiveKind::reduce, 16, 131'072) == "inter_knomial | binomial");
  CHECK(taken(kMvapich, CollectiveKind::reduce, 2, 8196) == "redscat_gather");
}

TEST_CASE("what a library's rules assume of a cluster is said where they do") {
  CHECK(mpi_assumption(kOld).empty());
  CHECK(mpi_assumption(kMpich).empty());
  CHECK(mpi_assumption(kMvapich).find("InfiniBand EDR or HDR") != std::string_view::npos);
}

TEST_CASE("whatever a library takes is named, and in the catalog where it says so") {
  for (const MpiLibrary& library : {kOld, kNew, kMpich, kMvapich}) {
    for (std::uint32_t k = 0; k <= static_cast<std::uint32_t>(CollectiveKind::send_receive); ++k) {
      const auto kind = static_cast<CollectiveKind>(k);
      for (const std::uint32_t ranks : {2U, 3U, 4U, 7U, 8U, 31U, 64U, 100U, 128U, 300U, 512U, 1024U, 2048U, 5000U}) {
        for (std::int64_t bytes = 4; bytes <= 1 << 28; bytes *= 2) {
          const MpiChoice choice = mpi_choice(library, {kind, ranks, 1, Bytes{bytes}, Bytes{4}});
          CHECK(choice.own.empty() == (kind == CollectiveKind::all_to_all_v || kind == CollectiveKind::send_receive));
          CHECK(choice.segment > Bytes::zero());
          if (!choice.algorithm.empty()) { CHECK(find(kind, choice.algorithm).kind == kind); }
        }
      }
    }
  }
}
