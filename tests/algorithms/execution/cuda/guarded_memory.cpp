#include "tests/algorithms/execution/cuda/guarded_memory.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include <fmt/core.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace athanor::emulation {

namespace {

constexpr std::size_t kGuard = 1024;
constexpr auto kAlignment = std::align_val_t{256};
constexpr std::byte kWatched{0xA5};
constexpr int kGarbage = 0xC7;

#if defined(__SANITIZE_ADDRESS__)
void forbid(const void* memory, std::size_t bytes) { ASAN_POISON_MEMORY_REGION(memory, bytes); }
void permit(const void* memory, std::size_t bytes) { ASAN_UNPOISON_MEMORY_REGION(memory, bytes); }
#else
void forbid(const void*, std::size_t) {}
void permit(const void*, std::size_t) {}
#endif

}  // namespace

GuardedMemory::~GuardedMemory() {
  while (!pieces_.empty()) { free(const_cast<std::byte*>(pieces_.begin()->first)); }
}

void* GuardedMemory::allocate(std::size_t bytes, int device) {
  auto* const all = static_cast<std::byte*>(::operator new(bytes + 2 * kGuard, kAlignment));
  std::byte* const memory = all + kGuard;
  std::memset(all, static_cast<int>(kWatched), bytes + 2 * kGuard);
  std::memset(memory, kGarbage, bytes);
  forbid(all, kGuard);
  forbid(memory + bytes, kGuard);
  pieces_[memory] = {bytes, device};
  return memory;
}

std::string GuardedMemory::free(void* memory) {
  const auto found = pieces_.find(static_cast<std::byte*>(memory));
  if (found == pieces_.end()) { return "memory is freed that was not allocated"; }
  const std::string text = damage(found->first, found->second);
  permit(found->first - kGuard, found->second.bytes + 2 * kGuard);
  ::operator delete(static_cast<std::byte*>(memory) - kGuard, kAlignment);
  pieces_.erase(found);
  return text;
}

bool GuardedMemory::holds(const void* memory, std::size_t bytes) const {
  const auto* const first = static_cast<const std::byte*>(memory);
  const auto after = pieces_.upper_bound(first);
  if (after == pieces_.begin()) { return false; }
  const auto& [begin, piece] = *std::prev(after);
  return first + bytes <= begin + piece.bytes;
}

std::string GuardedMemory::damage() const {
  for (const auto& [memory, piece] : pieces_) {
    if (std::string text = damage(memory, piece); !text.empty()) { return text; }
  }
  return "";
}

std::string GuardedMemory::damage(const std::byte* memory, const ElementRange& piece) {
  permit(memory - kGuard, kGuard);
  permit(memory + piece.bytes, kGuard);
  const auto whole = [](const std::byte* guard) {
    return std::all_of(guard, guard + kGuard, [](std::byte value) { return value == kWatched; });
  };
  const bool before = whole(memory - kGuard);
  const bool after = whole(memory + piece.bytes);
  forbid(memory - kGuard, kGuard);
  forbid(memory + piece.bytes, kGuard);
  if (before && after) { return ""; }
  return fmt::format("written {} {} bytes of memory of GPU {}", before ? "behind" : "before", piece.bytes,
                     piece.device);
}

}  // namespace athanor::emulation
