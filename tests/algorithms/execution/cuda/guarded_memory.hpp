#pragma once

#include <cstddef>
#include <iterator>
#include <map>
#include <string>

namespace athanor::emulation {

/// Memory whose surroundings are watched. Aligned as cudaMalloc's is, and full of what was there before.
class GuardedMemory {
 public:
  GuardedMemory() = default;
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  void* allocate(std::size_t bytes, int device);
  /// "" or what was written outside.
  std::string free(void* memory);

  bool holds(const void* memory, std::size_t bytes) const;
  /// Requires memory that was allocated.
  int device(const void* memory) const { return pieces_.at(static_cast<const std::byte*>(memory)).device; }
  /// Requires an address within memory that was allocated.
  int device_of(const void* address) const {
    return std::prev(pieces_.upper_bound(static_cast<const std::byte*>(address)))->second.device;
  }
  std::size_t left() const { return pieces_.size(); }
  /// "" or what was written outside of any piece.
  std::string damage() const;

 private:
  struct ElementRange {
    std::size_t bytes = 0;
    int device = 0;
  };
  static std::string damage(const std::byte* memory, const ElementRange& piece);

  std::map<const std::byte*, ElementRange> pieces_;
};

}  // namespace athanor::emulation
