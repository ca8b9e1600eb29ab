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

std::string taken(const MpiLibrary& library, CollectiveKind kind, std::uint32_t ranks, std::int64_t bytes,
                  std::uint32_t per_node = 1) {
  return mpi_choice(library, {kind, ranks, per_node, Bytes{bytes}, Bytes{4}}).own;
}

/// What is taken just below a size, and at it.
std::string around(const MpiLibrary& library, CollectiveKind kind, std::uint32_t ranks, std::int64_t bytes) {
  return taken(library, kind, ranks, bytes - 4) + " | " + taken(library, kind, ranks, bytes);
}

}  // namespace

TEST_CASE("libraries and releases of MPI are named") {
  CHECK(mpi_names() == std::vector<std::string>{"open-mpi", "mpich"});
  CHECK(mpi_releases("open-mpi") == std::vector<std::string>{"4.0", "4.1"});
  CHECK(mpi_releases("mpich") == std::vector<std::string>{"3.2"});
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

TEST_CASE("whatever a library takes is named, and in the catalog where it says so") {
  for (const MpiLibrary& library : {kOld, kNew, kMpich}) {
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
