#include "tools/calibrate/training/compute_files.hpp"

#include <cmath>

#include <fmt/core.h>

#include "models/experiments/scenario/compute_profile_section.hpp"

namespace athanor {

namespace {

double rounded(double value) { return std::stod(fmt::format("{:.4g}", value)); }

}  // namespace

ComputeProfile named_compute_profile(const Library& library, const std::string& name) {
  const bool known = library.has(LibraryFolder::compute, name);
  Problems problems;
  const ComputeProfile profile =
      read_compute_profile_file(library.files(), known ? library.path(LibraryFolder::compute, name) : name, problems);
  problems.throw_if_any();
  return profile;
}

ComputeProfile in_four_digits(ComputeProfile profile) {
  const auto round = [](ProductEfficiency& products) { products = {rounded(products.share), rounded(products.depth)}; };
  round(profile.gemm);
  for (auto& [precision, products] : profile.narrow) { round(products); }
  for (double* figure : {&profile.attention, &profile.memory, &profile.interference, &profile.straggler_growth}) {
    *figure = rounded(*figure);
  }
  for (Time* overhead : {&profile.overhead, &profile.pass_overhead}) {
    *overhead = Time{std::llround(rounded(microseconds(*overhead)) * 1e6)};
  }
  return profile;
}

}  // namespace athanor
