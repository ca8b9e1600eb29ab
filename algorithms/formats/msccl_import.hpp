#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "algorithms/catalog.hpp"
#include "algorithms/formats/msccl_document.hpp"
#include "algorithms/formats/table_schedule.hpp"
#include "algorithms/schedule/collective.hpp"

namespace athanor {

/// An MSCCL algorithm that has been proven.
class ImportedAlgorithm {
 public:
  /// Tables are nothing where the file is not meant for that place.
  ImportedAlgorithm(MscclDocument document, std::shared_ptr<const Table> out_of_place,
                    std::shared_ptr<const Table> in_place);

  const MscclDocument& document() const { return document_; }
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(document_.gpus.size()); }
  /// The count must be a multiple of this.
  Elements granule() const { return Elements{document_.chunks}; }
  /// The most messages that one chain of primitives, each waiting for the one before, sends one after the other.
  std::uint32_t steps() const { return steps_; }
  std::uint32_t least_slots() const { return any().least_slots; }
  std::uint64_t primitives() const { return any().steps.size(); }
  std::uint64_t lanes() const { return any().lanes.size(); }

  /// Why it cannot carry this out, or nothing: other kind, ranks or root, or a count that its chunks do not divide.
  std::optional<std::string> refuses(const Collective& collective) const;
  /// In place where the file can and `collective` wants it, or where the file can do nothing else. A piece is the most
  /// of a chunk that one loop moves. Requires that refuses() has no reason.
  std::unique_ptr<const Schedule> make(const Collective& collective, Elements piece) const;

 private:
  const Table& any() const { return out_of_place_ ? *out_of_place_ : *in_place_; }

  MscclDocument document_;
  std::shared_ptr<const Table> out_of_place_;
  std::shared_ptr<const Table> in_place_;
  std::uint32_t steps_ = 0;
};

/// Turns a document into a schedule and proves it with one element per chunk, in and out of place as the file allows.
/// Steps that complete a reduction over all ranks finish it, since MSCCL leaves that to the runtime. Throws
/// ScenarioError where the algorithm cannot be expressed or is wrong ("wrong-algorithm"), with the line of the step.
ImportedAlgorithm import_msccl(std::string_view text, const std::string& file);

/// An imported algorithm as one of those that scenarios and commands choose from, under the name that its file gives
/// it. Its channels are those of the file; of a layout, chunk and slices count: a loop moves one slice of a chunk.
Algorithm as_algorithm(const std::shared_ptr<const ImportedAlgorithm>& imported);

}  // namespace athanor
