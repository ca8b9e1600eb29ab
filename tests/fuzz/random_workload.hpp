#pragma once

#include <string>

#include "tests/fuzz/draws.hpp"

namespace athanor::fuzz {

/// What nothing is called: what names it is refused, and says so.
inline constexpr const char* kUnknown = "unheard-of";

/// What is simulated: sections of a scenario, each by its name.
class RandomWorkload {
 public:
  explicit RandomWorkload(Draws& draws) : draws_(draws) {}

  Json collective();
  /// Several collectives at a time.
  Json jobs();
  /// One that NCCL chooses the algorithm of.
  Json nccl_collective();
  Json nccl();
  /// The parts of a stack that a pool prices: some known, some kUnknown.
  Json software();
  Json traffic();
  Json parameter_server();
  /// A small model over so many GPUs.
  Json training(unsigned gpus);
  /// One of those that are shipped. `traces`: their folder.
  Json trace(const std::string& traces);

 private:
  std::string collective_kind();
  std::string algorithm(const std::string& kind);
  Json sizes();
  Json plan(unsigned gpus);
  std::string framework();

  Draws& draws_;
};

}  // namespace athanor::fuzz
