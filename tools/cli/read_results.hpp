#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/config/fields.hpp"
#include "sim/config/json_value.hpp"

// What athanor writes with --json and reads again to compare, report and draw it (docs/results.md). Anybody may have
// changed it meanwhile: it is read like a scenario, and all throw DocumentError for what athanor does not write.

namespace athanor {

/// What a JSON text is, by the keys of its root object; also where the text is damaged further on.
enum class ResultKind : std::uint8_t { results, comparison, other_object, no_object };
ResultKind result_kind(std::string_view text);

/// One result: which of its keys hold words, numbers, lists and objects. Keys that are not known may hold anything.
void read_result(Fields& fields);

/// A result, or the error of a point, that is written in one line. `place`: what messages call it.
JsonValue result_from_text(const std::string& text, const std::string& place);
JsonValue error_from_text(const std::string& text, const std::string& place);
/// A JSON list of strings.
std::vector<std::string> words_from_text(const std::string& text, const std::string& place);

/// {"results": [...], "manifest": {...}}.
struct ResultDocument {
  std::vector<JsonValue> records;  ///< at least one, in the order of the file as all their keys
  JsonValue manifest;              ///< an object; empty: there was none
};
ResultDocument read_results(const std::string& text, const std::string& file);

/// What `athanor compare --json` wrote, as it is in the file.
JsonValue read_comparison(const std::string& text, const std::string& file);

}  // namespace athanor
