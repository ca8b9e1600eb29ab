#include "tools/scenario/profile_section.hpp"

#include <algorithm>

#include "sim/json/object_reader.hpp"

namespace athanor {

std::vector<std::string> profile_names(const Library& library) {
  std::vector<std::string> names = library.names(Shelf::profiles);
  const auto at = std::lower_bound(names.begin(), names.end(), kIdealProfile);
  if (at == names.end() || *at != kIdealProfile) { names.insert(at, std::string(kIdealProfile)); }
  return names;
}

namespace {

/// Costs nothing until it is read, and does not say of itself that it does.
Profile undescribed(const std::string& name) {
  Profile profile;
  profile.name = name;
  profile.description.clear();
  return profile;
}

}  // namespace

Profile read_profile_file(const std::string& path, Problems& problems) {
  const Document document = Document::load(path);
  Profile profile = undescribed(path);
  read_document(document, problems, [&](ObjectReader& reader) { read(reader, profile); });
  return profile;
}

void read_profile(ValueReader& value, const Library& library, Problems& problems, Profile& profile) {
  using Type = ValueReader::Form::Type;
  const auto read_name = [&](ValueReader& text) {
    std::string name(kIdealProfile);
    text.read(name, OneOf{profile_names(library)});
    if (text.describing() || !text.ok()) { return; }
    if (library.has(Shelf::profiles, name)) {
      profile = read_profile_file(library.path(Shelf::profiles, name), problems);
    } else {
      profile = Profile{};
    }
  };
  const auto read_inline = [&](ValueReader& object) {
    profile = undescribed("inline");
    object.object([&](ObjectReader& reader) { read(reader, profile); });
  };
  value.one_of({{Type::string, read_name}, {Type::object, read_inline}});
}

}  // namespace athanor
