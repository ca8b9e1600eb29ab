#include <array>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/output.hpp"
#include "tools/export/export_options.hpp"
#include "tools/sweep/export.hpp"

namespace athanor {

namespace {

enum class SweepFormat { csv, json, jsonl };

SweepFormat sweep_format_of(const ExportOptions& options) {
  const std::string name = options.format.value_or("csv");
  if (name == "csv") { return SweepFormat::csv; }
  if (name == "json") { return SweepFormat::json; }
  if (name == "jsonl") { return SweepFormat::jsonl; }
  throw UsageError(fmt::format("export sweep: there is no format '{}'; choose csv, json or jsonl", name));
}

constexpr std::array<std::string_view, 2> kSweepOptions{"format", "output"};

}  // namespace

ExitCode export_sweep(const ExportOptions& options, const Streams& streams) {
  if (options.common.arguments.size() != 2) {
    throw UsageError("export sweep: one file, as in `athanor export sweep fabrics.sqlite --format csv -o fabrics.csv`");
  }
  allow_only(options.common, "export sweep", kSweepOptions, "does not go with sweeps; --format and -o do");
  if (options.common.json) { throw UsageError("export sweep: leave out --json; --format json writes the sweep"); }
  const SweepFormat format = sweep_format_of(options);
  const std::string path = options.destination();
  if (!path.empty()) { check_writable(path); }
  SweepDatabase database(options.common.arguments[1], SqliteFile::Access::read);
  if (format == SweepFormat::jsonl) {
    path.empty() ? sweep_lines(database, streams.out) : write_sweep_lines(database, path);
    return ExitCode::ok;
  }
  const std::string text =
      format == SweepFormat::csv ? sweep_csv(database) : sweep_json(database, options.common.command_line, false);
  write_to(path, streams, text);
  return ExitCode::ok;
}

}  // namespace athanor
