#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/network/packet/packet_topology.hpp"

namespace athanor {

/// Which devices have something to do in which window of time. Windows are numbered; only later ones than the one
/// being worked on are ever asked for.
class WindowWheel {
 public:
  /// Somebody has to look (first(), take()) at least once in so many windows, while anything is asked for.
  static constexpr std::int64_t kMostAhead = 1023;

  explicit WindowWheel(std::size_t devices) : next_(devices, kNever), slots_(kSlots) {}

  /// The device shall work in that window at the latest. `now`: the present one, which never falls.
  void ask(DeviceIndex device, std::int64_t window, std::int64_t now) {
    now_ = std::max(now_, now);
    if (next_[device] <= window) { return; }
    next_[device] = window;
    insert(device, window);
  }

  /// The first window in which somebody may have to work, from `from` on.
  std::optional<std::int64_t> first(std::int64_t from) const {
    for (std::int64_t ahead = 0; ahead < kSlots;) {
      const std::int64_t slot = (from + ahead) & (kSlots - 1);
      const std::uint64_t word = occupied_[static_cast<std::size_t>(slot / 64)] >> (slot % 64);
      if (word != 0) { return from + ahead + __builtin_ctzll(word); }
      ahead += 64 - slot % 64;
    }
    return std::nullopt;
  }

  /// Appends the devices of that window, which ask anew when they need another one. Everything up to it is past.
  void take(std::int64_t window, std::vector<DeviceIndex>& devices) {
    now_ = window;
    const auto slot = static_cast<std::size_t>(window & (kSlots - 1));
    occupied_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
    taken_.swap(slots_[slot]);
    for (const std::uint32_t entry : taken_) {
      const DeviceIndex device{entry & ~kFar};
      if (next_[device] == window) {
        next_[device] = kNever;
        devices.push_back(device);
      } else if ((entry & kFar) != 0 && next_[device] != kNever) {
        insert(device, next_[device]);
      }
    }
    taken_.clear();
  }

 private:
  static constexpr std::int64_t kSlots = kMostAhead + 1;
  static constexpr std::int64_t kNever = INT64_MAX;
  static constexpr std::uint32_t kFar = 0x80000000U;  ///< put into the last slot, because its own lies beyond it

  void insert(DeviceIndex device, std::int64_t window) {
    const bool far = window - now_ >= kSlots;
    const auto slot = static_cast<std::size_t>((far ? now_ + kSlots - 1 : window) & (kSlots - 1));
    slots_[slot].push_back(far ? device.value | kFar : device.value);
    occupied_[slot / 64] |= std::uint64_t{1} << (slot % 64);
  }

  std::int64_t now_ = 0;
  IdVector<DeviceIndex, std::int64_t> next_;
  std::vector<std::vector<std::uint32_t>> slots_;
  std::vector<std::uint32_t> taken_;
  std::array<std::uint64_t, kSlots / 64> occupied_{};
};

}  // namespace athanor
