#include "tools/export/export_sweep.hpp"

#include <array>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "tools/cli/option_values.hpp"
#include "tools/cli/output_file.hpp"
#include "tools/sweep/export.hpp"

namespace athanor {

namespace {

enum class SweepFormat { csv, json, jsonl };

SweepFormat sweep_format_of(const Invocation& invocation) {
  const std::string name = invocation.has("format") ? invocation.text("format") : "csv";
  if (name == "csv") { return SweepFormat::csv; }
  if (name == "json") { return SweepFormat::json; }
  if (name == "jsonl") { return SweepFormat::jsonl; }
  throw UsageError(fmt::format("export sweep: there is no format '{}'; choose csv, json or jsonl", name));
}

constexpr std::array<std::string_view, 2> kSweepOptions{"format", "output"};

}  // namespace

ExitCode export_sweep(const Invocation& invocation, const Streams& streams) {
  if (invocation.arguments.size() != 2) {
    throw UsageError("export sweep: one file, as in `athanor export sweep fabrics.sqlite --format csv -o fabrics.csv`");
  }
  allow_only(invocation, "export sweep", kSweepOptions, "does not go with sweeps; --format and -o do");
  if (invocation.has("json")) { throw UsageError("export sweep: leave out --json; --format json writes the sweep"); }
  const SweepFormat format = sweep_format_of(invocation);
  const std::string path = invocation.has("output") ? invocation.text("output") : "";
  if (!path.empty()) { check_writable(path); }
  SweepDatabase database(invocation.arguments[1], SqliteFile::Access::read);
  if (format == SweepFormat::jsonl) {
    path.empty() ? sweep_lines(database, streams.out) : write_sweep_lines(database, path);
    return ExitCode::ok;
  }
  const std::string text =
      format == SweepFormat::csv ? sweep_csv(database) : sweep_json(database, invocation.command_line, false);
  path.empty() ? streams.out(text) : write_text_file(path, text);
  return ExitCode::ok;
}

}  // namespace athanor
