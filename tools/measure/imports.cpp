#include "tools/measure/imports.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "algorithms/formats/msccl_import.hpp"
#include "sim/error.hpp"
#include "sim/file.hpp"

namespace athanor {

namespace {

constexpr std::string_view kPrefix = "msccl:";
constexpr std::int64_t kLargest = 16 << 20;
constexpr std::int64_t kWidest = 8;  ///< bytes of the widest element

std::shared_ptr<const Algorithm> read(const std::string& word) {
  const std::string path = word.starts_with(kPrefix) ? word.substr(kPrefix.size()) : word;
  const auto imported = std::make_shared<const ImportedAlgorithm>(import_msccl(read_text_file(path), path));
  return std::make_shared<const Algorithm>(as_algorithm(imported));
}

/// The smallest count that an imported algorithm can cut, of the ranks and the root it is made for.
std::int64_t granule_of(const Algorithm& algorithm) {
  Collective collective;
  collective.kind = algorithm.kind;
  return algorithm.granule_for_many(collective, {}).count();
}

bool in_catalog(const Algorithm& import) {
  return std::any_of(catalog().begin(), catalog().end(), [&](const Algorithm& algorithm) {
    return algorithm.kind == import.kind && algorithm.name == import.name;
  });
}

void refuse_same_name(const std::string& one, const std::string& other, const std::string& name) {
  throw UsageError(
      fmt::format("measure: --algorithm: {} and {} both name '{}', and rows could not tell them apart; change the name "
                  "in the file",
                  one, other, name));
}

}  // namespace

bool names_file(const std::string& word) { return word.starts_with(kPrefix) || word.ends_with(".xml"); }

MeasureRequest::Imports read_imports(const std::vector<std::string>& words) {
  MeasureRequest::Imports imports;
  std::map<std::string, std::string> words_by_name;
  for (const std::string& word : words) {
    if (!names_file(word)) { words_by_name.emplace(word, word); }
  }
  for (const std::string& word : words) {
    if (!names_file(word)) { continue; }
    const auto import = read(word);
    const auto [other, is_new] = words_by_name.emplace(import->name, word);
    if (!is_new) { refuse_same_name(other->second, word, import->name); }
    if (words_by_name.contains("all") && in_catalog(*import)) { refuse_same_name("all", word, import->name); }
    imports.emplace(word, import);
  }
  return imports;
}

std::vector<Bytes> default_sizes(const MeasureRequest::Imports& imports) {
  std::int64_t elements = 1;
  for (const auto& [word, algorithm] : imports) { elements = std::lcm(elements, granule_of(*algorithm)); }
  std::vector<Bytes> sizes;
  for (std::int64_t size = elements * kWidest; size <= kLargest; size *= 2) { sizes.emplace_back(size); }
  return sizes.empty() ? std::vector{Bytes{elements * kWidest}} : sizes;
}

std::optional<std::string> refuses_place(const Schedule& schedule, const Collective& collective) {
  for (std::uint32_t rank = 0; rank < schedule.agent_count().ranks; ++rank) {
    const Memory memory = schedule.memory(AgentId{rank});
    if (memory.input == Elements::zero() || memory.output == Elements::zero()) { continue; }
    if (memory.in_place.has_value() == collective.in_place) { continue; }
    return collective.in_place ? "its file is for input and output in buffers of their own (inplace=\"0\")"
                               : "its file is for input and output in one buffer (outofplace=\"0\")";
  }
  return std::nullopt;
}

}  // namespace athanor
