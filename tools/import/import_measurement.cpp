#include "tools/import/import_measurement.hpp"

#include <array>
#include <filesystem>

#include "sim/check.hpp"
#include "sim/config/document.hpp"
#include "tools/import/nccl_json.hpp"
#include "tools/import/nccl_text.hpp"
#include "tools/import/osu_text.hpp"

namespace athanor {

namespace {

constexpr std::array kFormats{ImportFormat::msccl, ImportFormat::nccl_tests, ImportFormat::nccl_tests_json,
                              ImportFormat::rccl_tests, ImportFormat::osu};

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

std::string_view name(ImportFormat format) {
  switch (format) {
    case ImportFormat::msccl: return "msccl";
    case ImportFormat::nccl_tests: return "nccl-tests";
    case ImportFormat::nccl_tests_json: return "nccl-tests-json";
    case ImportFormat::rccl_tests: return "rccl-tests";
    case ImportFormat::osu: return "osu";
  }
  return "";
}

std::optional<ImportFormat> import_format(std::string_view text) {
  for (const ImportFormat format : kFormats) {
    if (name(format) == text) { return format; }
  }
  return std::nullopt;
}

std::vector<std::string> import_format_names() {
  std::vector<std::string> names;
  for (const ImportFormat format : kFormats) { names.emplace_back(name(format)); }
  return names;
}

std::optional<ImportFormat> recognised(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) { return std::nullopt; }
  if (text[first] == '<' && has(text, "<algo")) { return ImportFormat::msccl; }
  if (text[first] == '{' && has(text, "\"results\"")) { return ImportFormat::nccl_tests_json; }
  if (has(text, "# OSU")) { return ImportFormat::osu; }
  if (!has(text, "algbw") || !has(text, "busbw")) { return std::nullopt; }
  const bool rccl = has(text, "rccl-tests") || has(text, "RCCL version") || has(text, "librccl");
  return rccl ? ImportFormat::rccl_tests : ImportFormat::nccl_tests;
}

Measurement import_measurement(std::string text, const std::string& file, ImportFormat format, const ImportHints& hints,
                               Problems& problems) {
  require(format != ImportFormat::msccl, "an algorithm is no measurement");
  Measurement measurement;
  measurement.kind = format == ImportFormat::nccl_tests_json ? name(ImportFormat::nccl_tests) : name(format);
  switch (format) {
    case ImportFormat::msccl: break;
    case ImportFormat::nccl_tests:
    case ImportFormat::rccl_tests: import_nccl_text(text, file, hints, measurement, problems); break;
    case ImportFormat::nccl_tests_json:
      import_nccl_json(Document::parse(std::move(text), file), hints, measurement, problems);
      break;
    case ImportFormat::osu: import_osu_text(text, file, hints, measurement, problems); break;
  }
  measurement.id = std::filesystem::path(file).stem().string();
  measurement.source = measurement.kind + ": " + std::filesystem::path(file).filename().string();
  return measurement;
}

}  // namespace athanor
