#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/nccl/tuning/environment.hpp"

namespace athanor {

/// One variable while it is read: its text, and where notes on it go.
struct NcclVariable {
  NcclEnvironment& environment;
  const std::string& name;
  const std::string& text;

  void note(NcclNote::Effect effect, const std::string& what) const;
};

/// The text as strtoll with base 0 reads it, with a note where that is not what is written; none, and a note, where
/// NCCL takes its default. An empty text is not set.
std::optional<std::int64_t> nccl_number(const NcclVariable& variable);

/// NCCL_ALGO and NCCL_PROTO: into environment.algorithms or environment.protocols.
void read_algorithms(const NcclVariable& variable, NcclVersion version);
void read_protocols(const NcclVariable& variable, NcclVersion version);

/// NCCL_P2P_LEVEL and NCCL_NET_GDR_LEVEL: names as they stand, or the numbers of before 2.4.
std::optional<NcclPath> nccl_level(const NcclVariable& variable);

/// Does NCCL know a variable of this name, whatever it does here?
bool is_nccl_variable(const std::string& name);
/// The nearest name that it knows, or "".
std::string nearest_nccl_variable(const std::string& name);

}  // namespace athanor
