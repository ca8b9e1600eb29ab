#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "sim/error.hpp"

namespace athanor {

/// What a step of a thread block does, and how the file calls it.
enum class MscclOperation : std::uint8_t {
  nop,                       ///< "nop": only waits
  send,                      ///< "s": the source
  receive,                   ///< "r": into the destination
  receive_copy_send,         ///< "rcs": into the destination, and on
  receive_reduce_send,       ///< "rrs": source + received, on
  receive_reduce_copy,       ///< "rrc": source + received, into the destination
  receive_reduce_copy_send,  ///< "rrcs": both
  copy,                      ///< "cpy": source into the destination
  reduce,                    ///< "re": destination + source, into the destination
};

std::string_view name(MscclOperation operation);
bool receives(MscclOperation operation);
bool sends(MscclOperation operation);
/// Does it read its source, or write its destination? ("re" also reads its destination.)
bool reads_source(MscclOperation operation);
bool writes_destination(MscclOperation operation);

/// As "coll" spells it; nothing where MSCCL has no such collective.
std::optional<std::string_view> msccl_name(CollectiveKind kind);
/// Has every rank an equal part of the larger buffer?
bool has_parts(CollectiveKind kind);

/// In chunks of one buffer.
struct MscclCells {
  Buffer buffer = Buffer::input;
  std::uint32_t first = 0;
};

struct MscclDependency {
  std::uint32_t block = 0;
  std::uint32_t step = 0;
};

/// Cells that the operation does not use are as they are by default.
struct MscclStep {
  MscclOperation operation = MscclOperation::nop;
  MscclCells source;
  MscclCells destination;
  std::uint32_t count = 0;  ///< chunks; at least one but for a nop
  std::optional<MscclDependency> dependency;
  SourceLocation place;
};

/// A thread block: at most one peer that it sends to, and one that it receives from.
struct MscclBlock {
  std::optional<std::uint32_t> send;
  std::optional<std::uint32_t> receive;
  std::uint32_t channel = 0;
  std::vector<MscclStep> steps;
  SourceLocation place;
};

struct MscclGpu {
  std::uint32_t scratch = 0;  ///< chunks
  std::vector<MscclBlock> blocks;
  SourceLocation place;
};

/// An MSCCL XML algorithm as it stands in its file. A chunk is a `chunks`-th of the payload (of the larger buffer).
struct MscclDocument {
  std::string name;
  std::string protocol;
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::uint32_t root = 0;  ///< of broadcast and reduce: the attribute "root", which MSCCL itself does not know
  std::uint32_t channels = 1;
  std::uint32_t chunks = 1;
  bool in_place = false;
  bool out_of_place = true;
  std::optional<std::int64_t> least_bytes;
  std::optional<std::int64_t> most_bytes;
  std::vector<MscclGpu> gpus;
  SourceLocation place;
};

/// Reads the XML of msccl-tools, MSCCL and RCCL (both spellings of reduce-scatter; "inplace" with or without
/// "outofplace"). `file` is what problems name. Throws ScenarioError with all problems found (at most 20), each with
/// its line: broken XML, missing attributes, values out of range, ids out of order, peers and steps that do not exist.
MscclDocument parse_msccl(std::string_view text, const std::string& file);

}  // namespace athanor
