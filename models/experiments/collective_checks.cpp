#include <algorithm>

#include <fmt/core.h>

#include "models/experiments/collective.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"

namespace athanor {

namespace {

bool may_run(const CollectiveSetup& setup, std::initializer_list<std::string_view> names) {
  return std::any_of(setup.algorithms.begin(), setup.algorithms.end(), [&](const Algorithm* algorithm) {
    return std::find(names.begin(), names.end(), algorithm->name) != names.end();
  });
}

}  // namespace

std::vector<IdleKeys> idle_keys_of(const CollectiveSetup& setup) {
  std::vector<IdleKeys> idle;
  if (!has_root(setup.kind)) {
    idle.push_back({{"/collective/root"}, "all ranks play the same part in such a collective", "leave it out"});
  }
  if (!reduces(setup.kind)) {
    idle.push_back({{"/collective/reduction"}, "such a collective reduces nothing", "leave it out"});
  }
  if (!may_run(setup, {"torus", "mesh", "swing"})) {
    idle.push_back({{"/collective/dimensions"},
                    "it is of torus, mesh and swing",
                    "choose one of these as \"algorithm\", or leave it out"});
  }
  if (!may_run(setup, {"multi_ring"})) {
    idle.push_back({{"/collective/rings"},
                    "it is the number of rings of multi_ring",
                    R"(write "algorithm": "multi_ring", or leave it out)"});
  }
  if (setup.algorithms.size() == 1 && setup.algorithms.front()->name == "synthesised") {
    idle.push_back({{"/collective/channels", "/collective/slices", "/collective/rotate", "/collective/group"},
                    "what is synthesised has connections of its own making",
                    "leave it out"});
  }
  return idle;
}

void check_asked_sizes_of(const CollectiveSetup& setup) {
  if (setup.exchange) {
    throw UsageError("--sizes: the payload of all_to_all_v is that of its \"exchange\"; leave out --sizes");
  }
  if (setup.kind == CollectiveKind::barrier) {
    throw UsageError("--sizes: a barrier has no payload; leave out --sizes");
  }
  for (const Bytes size : setup.sizes) {
    if (size % size_of(setup.type) == Bytes::zero()) { continue; }
    throw UsageError(fmt::format("--sizes: {} is no whole number of {} elements of {}; choose another size",
                                 to_string(size), name(setup.type), to_string(size_of(setup.type))));
  }
}

}  // namespace athanor
