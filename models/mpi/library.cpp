#include "models/mpi/library.hpp"

#include <algorithm>
#include <array>

#include "models/mpi/choice.hpp"
#include "models/mpi/rules.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

/// By library, and from the oldest release on.
std::array<MpiRules, 4> all_rules() { return {open_mpi_4_0(), open_mpi_4_1(), mpich_3_2(), mvapich2_2_3()}; }

MpiRules rules_of(const MpiLibrary& library) {
  for (const MpiRules& rules : all_rules()) {
    if (rules.library == library.name && rules.release == library.release) { return rules; }
  }
  require(false, "no rules of {} {}", library.name, library.release);
  return {};
}

}  // namespace

std::vector<std::string> mpi_names() {
  std::vector<std::string> names;
  for (const MpiRules& rules : all_rules()) {
    if (names.empty() || names.back() != rules.library) { names.emplace_back(rules.library); }
  }
  return names;
}

std::vector<std::string> mpi_releases(std::string_view library) {
  std::vector<std::string> releases;
  for (const MpiRules& rules : all_rules()) {
    if (rules.library == library) { releases.emplace_back(rules.release); }
  }
  return releases;
}

std::string_view mpi_assumption(const MpiLibrary& library) { return rules_of(library).assumed; }

MpiChoice mpi_choice(const MpiLibrary& library, const MpiCall& call) {
  require(call.ranks > 0, "a call of no ranks");
  return rules_of(library).choose(call);
}

}  // namespace athanor
