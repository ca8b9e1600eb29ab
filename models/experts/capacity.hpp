#pragma once

#include <cstdint>
#include <vector>

namespace athanor {

/// Of the choices that the tokens of one rank make, how many an expert takes from it: factor x tokens x chosen /
/// experts, rounded up (GShard; Megatron Core's moe_expert_capacity_factor). Requires a factor above zero.
std::uint64_t expert_capacity(double factor, std::uint64_t tokens, std::uint32_t chosen, std::uint32_t experts);

/// The share of an expert's choices that its capacity leaves. Each of `tokens` tokens chooses it by itself with
/// probability `load`, so that how many do is binomial, and of X choices min(X, capacity) are kept. Exact.
double kept_share(double load, std::uint64_t tokens, std::uint64_t capacity);

/// By expert; `loads`: as loads_of().
std::vector<double> kept_shares(const std::vector<double>& loads, std::uint64_t tokens, std::uint64_t capacity);

}  // namespace athanor
