#pragma once

#include <cstdint>
#include <functional>

#include "sim/time.hpp"

namespace athanor {

/// What an iteration of an engine computes: one pass of the model over tokens of several requests.
struct IterationLoad {
  std::uint32_t tokens = 0;    ///< that go through the layers
  std::uint32_t samples = 0;   ///< requests that get a token out of it
  std::uint64_t attended = 0;  ///< of requests with one token each: kept tokens that these attend to, themselves too
};

/// How long an iteration takes: of_tokens + of_samples + attended x per_attended, and of_chunk of each request that has
/// several tokens in it. As functions of numbers alone, so that equal questions have equal answers.
struct IterationLaw {
  std::function<Time(std::uint32_t tokens)> of_tokens;    ///< at least 1 ps; all that does not depend on what is kept
  std::function<Time(std::uint32_t samples)> of_samples;  ///< logits, and choosing of tokens
  Time per_attended;                                      ///< attention of a single token to one kept token
  std::function<Time(std::uint32_t past, std::uint32_t tokens)> of_chunk;  ///< attention of tokens that follow `past`
};

/// Without chunks.
inline Time time_of(const IterationLoad& load, const IterationLaw& law) {
  return law.of_tokens(load.tokens) + law.of_samples(load.samples) +
         law.per_attended * static_cast<std::int64_t>(load.attended);
}

/// Of `count` iterations one after the other with a token of each of the same requests: each of them attends to one
/// more token than in the iteration before. With t the time of the first and p the law's per_attended:
/// count x t + p x samples x count (count - 1) / 2.
inline Time time_of_run(const IterationLoad& first, std::int64_t count, const IterationLaw& law) {
  const std::int64_t more = static_cast<std::int64_t>(first.samples) * (count * (count - 1) / 2);
  return time_of(first, law) * count + law.per_attended * more;
}

}  // namespace athanor
