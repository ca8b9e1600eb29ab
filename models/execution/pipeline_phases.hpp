#pragma once

#include <vector>

#include "models/execution/executor.hpp"

namespace athanor {

/// When a pipeline is full and when it begins to empty: listens to a run of every loop.
///
/// It fills until the last of the lanes that receive has ended its first primitive that does, and drains from when the
/// first of the lanes that send has ended its last one that does. Times are the executor's, without the launch.
class PipelinePhases : public PrimitiveListener {
 public:
  void primitive_ended(const EndedPrimitive& primitive) override;

  /// Zero where nothing was received.
  Time filled() const;
  /// Not before filled(): what never flows steadily fills and drains.
  Time draining() const;

 private:
  struct Lane {
    bool receives = false;
    bool sends = false;
    Time first_received;
    Time last_sent;
  };
  std::vector<Lane> lanes_;
};

}  // namespace athanor
