#pragma once

#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json_fwd.hpp>

#include "tests/json_tree.hpp"

namespace athanor {

/// Strict JSON, without comments. Throws std::invalid_argument with the text where it is not JSON.
nlohmann::json json_from(const std::string& text);

/// The JSON in a file. Throws FileError, and as json_from.
nlohmann::json json_in_file(const std::string& path);

}  // namespace athanor

/// How checks print JSON.
template <>
struct doctest::StringMaker<nlohmann::json> {
  static String convert(const nlohmann::json& value);
};
