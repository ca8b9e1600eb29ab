#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "algorithms/schedule/reduction.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// The user's buffers of one rank. Where the schedule works in place, the input begins Memory::in_place elements after
/// the output.
struct RankBuffers {
  std::span<std::byte> input;
  std::span<std::byte> output;
};

/// Memory for the input and the output of one agent, as its schedule lays them out, or for its scratch. Aligned to
/// pages, not initialised.
class PageMemory {
 public:
  explicit PageMemory(std::size_t bytes);
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::unique_ptr<std::byte[]> owned_;
  std::span<std::byte> bytes_;
};

/// Input and output in one piece of memory, the input within the output where `memory` says so; no scratch.
class UserMemory {
 public:
  UserMemory(const Memory& memory, DataType type);
  const RankBuffers& buffers() const { return buffers_; }

 private:
  PageMemory memory_;
  RankBuffers buffers_;
};

/// Buffers of all ranks of a schedule.
class RankMemory {
 public:
  RankMemory(const Schedule& schedule, DataType type);
  const std::vector<RankBuffers>& buffers() const { return buffers_; }

 private:
  std::vector<UserMemory> memory_;
  std::vector<RankBuffers> buffers_;
};

}  // namespace athanor
