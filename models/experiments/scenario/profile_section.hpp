#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/library/library.hpp"
#include "models/software/profile.hpp"
#include "sim/config/field_value.hpp"

namespace athanor {

/// The profile that costs nothing; the only one that is in no file.
constexpr std::string_view kIdealProfile = "ideal";

/// "ideal" and those of the library.
std::vector<std::string> profile_names(const Library& library);

/// The "profile" of a scenario: a name, a path from `files` on, or the profile itself. `problems` takes what is wrong
/// with the named file. Throws FileError.
void read_profile(FieldValue& value, const FileReader& files, const Library& library, Problems& problems,
                  Profile& profile);

/// Reads the profile's own file. Throws FileError.
Profile read_profile_file(const FileReader& files, const std::string& name, Problems& problems);

struct Platform;

/// Whether the profile's costs are those of what the platform's ranks are, and whether it has the protocol that is
/// asked for.
void check_profile(Fields& fields, const Platform& platform, const std::optional<std::string>& protocol);

/// Reports a "profile" of NCCL on GPUs that are not NVIDIA's, and of RCCL on such that are not AMD's. Of GPUs whose
/// maker nobody tells it may be.
void check_vendor(Fields& fields, const Library& library, const Platform& platform);

/// Whether a library that the profile is of can use the engines of the platform's switches.
void check_engines(Fields& fields, const Platform& platform);

}  // namespace athanor
