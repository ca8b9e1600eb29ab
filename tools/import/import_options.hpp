#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/cli/command.hpp"
#include "tools/import/fabric/import_fabric.hpp"

namespace athanor {

struct ImportOptions {
  CommonOptions common;
  std::optional<std::string> format, output, collective, hardware, source;
  std::optional<std::uint32_t> ranks, nodes;
  FabricHints hints;  ///< what the text of a fabric does not have
  std::optional<Ratio> oversubscription;
  std::optional<std::string> fabric;  ///< that copies of a machine are put on: a file, or JSON

  /// Where a measurement or a scenario goes: --output, --json or "", standard output.
  std::string destination() const { return output.value_or(common.json.value_or("")); }
};
void visit(OptionFields& fields, ImportOptions& options);

/// Reads the fabric in `text` and writes a scenario that can be run. A machine is first built as the scenario will
/// build it, so that what is written is known to be good.
void import_fabric_file(const ImportOptions& options, const Streams& streams, const std::string& path,
                        const std::string& text, FabricFormat format);

}  // namespace athanor
