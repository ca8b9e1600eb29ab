#pragma once

#include "models/mpi/choice.hpp"

namespace athanor {

/// The rules of one release: what it takes for a call of at least two ranks; `own` is "" where they do not say.
struct MpiRules {
  const char* library;
  const char* release;
  MpiChoice (*choose)(const MpiCall& call);
  const char* assumed = "";  ///< as mpi_assumption()
};

MpiRules open_mpi_4_0();
MpiRules open_mpi_4_1();
MpiRules mpich_3_2();
MpiRules mvapich2_2_3();

/// Bytes that one rank has for one other.
inline Bytes block_of(const MpiCall& call) { return Bytes{ceil_div(call.payload.count(), call.ranks)}; }
inline std::int64_t elements_of(const MpiCall& call) { return call.payload / call.element; }

}  // namespace athanor
