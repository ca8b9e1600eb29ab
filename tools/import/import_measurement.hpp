#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/import/imported_rows.hpp"

namespace athanor {

/// What `athanor import` reads.
enum class ImportFormat : std::uint8_t { msccl, nccl_tests, nccl_tests_json, rccl_tests, osu };

/// "msccl", "nccl-tests", ...
std::string_view name(ImportFormat format);
std::optional<ImportFormat> import_format(std::string_view name);
std::vector<std::string> import_format_names();

/// By what it holds; none where it is none of them.
std::optional<ImportFormat> recognised(std::string_view text);

/// The rows of a text as a measurement. `file` is what problems name. Requires a format of measurements.
Measurement import_measurement(std::string text, const std::string& file, ImportFormat format, const ImportHints& hints,
                               Problems& problems);

}  // namespace athanor
