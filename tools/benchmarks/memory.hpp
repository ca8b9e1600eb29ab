#pragma once

#include <cstdint>

namespace athanor {

/// The most memory that this process held at once since the construction, beyond what it held then. Where the system
/// cannot forget an earlier peak (all but Linux), what an earlier benchmark held hides a smaller one.
class PeakMemory {
 public:
  PeakMemory();
  double megabytes() const;

 private:
  std::int64_t before_;
};

}  // namespace athanor
