#include "models/jobs/logs/log_format.hpp"

namespace athanor {

/// Instantiated in the file of each format (entry.hpp).
template <class Format>
LogFormatEntry log_format_entry_of();

/// In the order of lists and documentation.
constexpr LogFormatEntry (*kFormats[])() = {
    log_format_entry_of<struct SlurmSacct>,         // slurm
    log_format_entry_of<struct PhillyLog>,          // philly
    log_format_entry_of<struct SiaSelection>,       // sia
    log_format_entry_of<struct HeliosLog>,          // helios
    log_format_entry_of<struct AcmeTrace>,          // acme
    log_format_entry_of<struct OpenbPods>,          // openb
    log_format_entry_of<struct StandardWorkload>,   // swf
    log_format_entry_of<struct KubernetesObjects>,  // kubernetes
    log_format_entry_of<struct TiresiasTrace>,      // tiresias
    log_format_entry_of<struct GavelTrace>,         // gavel
    log_format_entry_of<struct PolluxWorkload>,     // pollux
    log_format_entry_of<struct PaiTables>,          // pai
};

const std::vector<LogFormatEntry>& log_formats() {
  static const std::vector<LogFormatEntry> all = [] {
    std::vector<LogFormatEntry> found;
    for (const auto& entry : kFormats) { found.push_back(entry()); }
    return found;
  }();
  return all;
}

}  // namespace athanor
