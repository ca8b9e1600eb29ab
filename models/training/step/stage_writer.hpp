#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/training/step/pieces.hpp"
#include "models/workload/workload.hpp"

namespace athanor {

/// Writes the operations of one worker, and what they refer to, into a workload.
class StageWriter {
 public:
  using Number = std::uint32_t;  ///< of an operation
  using Numbers = std::vector<Number>;

  /// Borrows the workload, whose worker `worker` has been added. The first stream is that of computing.
  StageWriter(Workload& workload, std::uint32_t worker);

  /// Its number; the same for the same name.
  std::uint16_t stream(const std::string& name);
  Number compute(const std::string& label, Time time, const Numbers& after);
  /// On a stream of the GPU beside the first, between or behind calls.
  Number compute_beside(std::uint16_t stream, const std::string& label, Time time, const Numbers& after);
  /// On the host's one stream, beside all others.
  Number host(const std::string& label, Time time, const Numbers& after);
  /// Between the memories of GPU and host, on the stream of this name, beside all others.
  Number copy(const std::string& stream, Time time, const Numbers& after);
  Number call(std::uint16_t stream, const std::string& label, const Workload::Call& call, const Numbers& after);
  Number send(std::uint16_t stream, std::uint32_t channel, Bytes size, const Numbers& after);
  Number receive(std::uint16_t stream, std::uint32_t channel, Bytes size, const Numbers& after);

 private:
  /// Of no computing stream.
  Number beside(std::uint16_t stream, const std::string& label, Time time, const Numbers& after);
  Number add(Workload::Operation operation, const Numbers& after);
  std::uint32_t label(const std::string& text);

  Workload& workload_;
  std::uint32_t worker_;
};

/// Operations that follow each other: what is computed next waits for what was communicated before, but for what runs
/// beside it.
class Chain {
 public:
  /// `streams`: by Parallelism, of what collectives a piece may ask for; `communicators`: the same.
  struct Communication {
    std::uint16_t stream = 0;
    std::uint32_t communicator = 0;
  };
  using Communications = std::map<Parallelism, Communication>;

  void add(StageWriter& writer, const WorkPiece& piece, const Communications& communications);
  /// The next thing that is computed waits for this, too.
  void wait_for(StageWriter::Number operation) { next_.push_back(operation); }
  /// What has to have ended for all of it to have ended.
  StageWriter::Numbers ends() const;

 private:
  StageWriter::Numbers last_;    ///< what was computed last, or nothing
  StageWriter::Numbers next_;    ///< communication that the next computation waits for
  StageWriter::Numbers beside_;  ///< communication that it does not wait for, but the one after it
};

}  // namespace athanor
