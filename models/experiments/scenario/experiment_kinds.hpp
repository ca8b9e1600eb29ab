#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace athanor {

class ExperimentReader;
struct Column;

/// A kind of experiment that a scenario may ask for: the key of its section, in place of all others.
struct ExperimentKind {
  std::string_view key;
  std::string_view meaning;
  std::unique_ptr<ExperimentReader> (*reader)();
  std::vector<const Column*> (*figures)();  ///< of its records, those whose role or `shown` says something
};

std::span<const ExperimentKind> experiment_kinds();

/// The figures of all kinds, then those that several have; of several with one key, that of the kind that is listed
/// first.
std::span<const Column* const> figures_of_all_kinds();

/// That of a key; null: none of these is called so.
const Column* figure_of(std::string_view key);

}  // namespace athanor
