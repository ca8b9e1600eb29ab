#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// One agent's buffers in one address space, element by element; an input that lies in the output shares its addresses.
class MemoryMap {
 public:
  explicit MemoryMap(const Memory& memory) {
    const std::int64_t input = memory.input.count();
    const std::int64_t output = memory.output.count();
    const std::int64_t offset = memory.in_place.value_or(output);
    const std::int64_t output_base = std::max<std::int64_t>(0, -offset);
    const std::int64_t scratch_base = std::max(output_base + output, output_base + offset + input);
    base_ = {output_base + offset, output_base, scratch_base};
    output_end_ = output_base + output;
    size_ = scratch_base + memory.scratch.count();
  }

  std::int64_t size() const { return size_; }
  std::int64_t base(Buffer buffer) const { return base_[static_cast<std::size_t>(buffer)]; }
  std::int64_t address(const Cells& cells, std::int64_t k) const {
    return base(cells.buffer) + cells.at(Elements{k}).count();
  }

  /// The buffer and the element in it that an address is; an output's where it is also an input's.
  std::pair<Buffer, std::int64_t> at(std::int64_t address) const {
    if (address >= base(Buffer::scratch)) { return {Buffer::scratch, address - base(Buffer::scratch)}; }
    if (address >= base(Buffer::output) && address < output_end_) {
      return {Buffer::output, address - base(Buffer::output)};
    }
    return {Buffer::input, address - base(Buffer::input)};
  }

  /// visit(address, length) for each contiguous run of the first `count` cells, in order.
  template <class Visit>
  void each_run(const Cells& cells, Elements count, Visit visit) const {
    const std::int64_t run = cells.run == Elements::zero() ? count.count() : cells.run.count();
    std::int64_t address = base(cells.buffer) + cells.first.count();
    for (std::int64_t left = count.count(); left > 0; left -= run, address += cells.stride.count()) {
      visit(address, std::min(run, left));
    }
  }

 private:
  std::array<std::int64_t, 3> base_{};
  std::int64_t output_end_ = 0;
  std::int64_t size_ = 0;
};

}  // namespace athanor
