#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/jobs/profiles/application_profile.hpp"

namespace athanor {

class FileReader;

/// A form in which others write down what they measured of an application.
struct ProfileFormat {
  std::string_view name;
  std::string_view meaning;  ///< one line
  /// Of a folder. Throws FileError; ScenarioError with the line of what is no such value.
  ApplicationProfile (*read)(const std::string& folder, const FileReader& files) = nullptr;
};

/// In the order of lists.
const std::vector<ProfileFormat>& profile_formats();

}  // namespace athanor
