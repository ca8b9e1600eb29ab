#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace athanor {

/// A library of MPI by which rules it chooses algorithms. Rules are those of a library as it comes, by its own
/// components: none that a vendor's build puts before them (HCOLL, UCC), none of a file of rules.
struct MpiLibrary {
  std::string name;     ///< one of mpi_names()
  std::string release;  ///< one of mpi_releases(name)
};

/// Libraries whose rules are known: "open-mpi", "mpich", "mvapich2".
std::vector<std::string> mpi_names();
/// Their releases whose rules are known, from the oldest on; empty: the library is not known.
std::vector<std::string> mpi_releases(std::string_view library);
/// What a library's rules take for granted of a cluster, for the user; "": nothing. Requires one whose rules are known.
std::string_view mpi_assumption(const MpiLibrary& library);

}  // namespace athanor
