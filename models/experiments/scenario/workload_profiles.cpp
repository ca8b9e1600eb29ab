#include "models/experiments/scenario/workload_profiles.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/jobs/profiles/job_course.hpp"
#include "models/jobs/profiles/profile_format.hpp"
#include "sim/file.hpp"

namespace athanor {

namespace {

void visit(Fields& fields, WorkloadApplication& application) {
  fields.required("name", application.name, "As jobs name it; its folder in \"folder\"");
  fields.optional("epochs", application.epochs, "A job is done after so many; absent: all that the profile has", {1});
  fields.optional("most_local_batch", application.most_local_batch,
                  "That one GPU works on at once; absent: the largest that was measured", {1});
}

/// What the scenario says of an application beside its profile.
void apply(const WorkloadApplication& application, const SourceLocation& place, ApplicationProfile& profile,
           Problems& problems) {
  const auto refuse = [&](std::string message, std::string hint) {
    problems.add({"out-of-range", std::move(message), place, std::move(hint)});
  };
  profile.name = application.name;
  if (application.epochs && *application.epochs > profile.convergence.epochs()) {
    refuse(fmt::format("the profile of '{}' has {} epochs, not {}", application.name, profile.convergence.epochs(),
                       *application.epochs),
           "make \"epochs\" smaller");
  } else if (application.epochs) {
    profile.convergence.keep_epochs(*application.epochs);
  }
  if (!application.most_local_batch) { return; }
  if (*application.most_local_batch < profile.least_local_batch ||
      *application.most_local_batch > profile.most_local_batch) {
    refuse(fmt::format("the profile of '{}' has local batches from {} to {}, not {}", application.name,
                       profile.least_local_batch, profile.most_local_batch, *application.most_local_batch),
           "change \"most_local_batch\"");
    return;
  }
  profile.most_local_batch = *application.most_local_batch;
}

}  // namespace

void visit(Fields& fields, WorkloadProfiles& profiles) {
  fields.required("folder", profiles.folder, "With a folder for each application; relative to the scenario");
  std::vector<Fields::Kind> formats;
  for (const ProfileFormat& format : profile_formats()) {
    formats.push_back({format.name, format.meaning, [&](Fields& /*nested*/) { profiles.format = format.name; },
                       profiles.format == format.name});
  }
  fields.choice("format", "Who writes such files", formats);
  fields.required_list("applications", profiles.applications, "Those that jobs name",
                       [](Fields& f, WorkloadApplication& application) { visit(f, application); });
  fields.optional("interference", profiles.interference,
                  "Share of its speed that a job on several nodes loses while another such job is on one of them",
                  {Ratio{0, 1}, Ratio{1, 1}});
  fields.optional("whole_seconds", profiles.whole_seconds,
                  "An epoch takes the nearest whole number of seconds, as in Pollux's simulator");
  profiles.place = fields.place("applications");
}

ProfileSet read_profiles(const WorkloadProfiles& from, const FileReader& files, Problems& problems) {
  ProfileSet set;
  set.interference = to_double(from.interference);
  set.whole_seconds = from.whole_seconds;
  const auto format = std::find_if(profile_formats().begin(), profile_formats().end(),
                                   [&](const ProfileFormat& each) { return each.name == from.format; });
  for (const WorkloadApplication& application : from.applications) {
    try {
      if (set.find(application.name) != nullptr) {
        problems.add({"duplicate-name", fmt::format("two applications are called '{}'", application.name), from.place,
                      "leave one out"});
        continue;
      }
      set.applications.push_back(format->read(from.folder + "/" + application.name, files));
      apply(application, from.place, set.applications.back(), problems);
    } catch (const FileError& error) {
      problems.add({"no-profile", error.what(), from.place, "a path is relative to the scenario's file"});
    } catch (const ScenarioError& error) {
      for (const Problem& problem : error.problems()) { problems.add(problem); }
    }
  }
  return set;
}

void resolve_applications(JobList& jobs, const ProfileSet& profiles, const NodeList& nodes, const SourceLocation& place,
                          Problems& problems) {
  for (const Mistake& mistake : set_durations(jobs, profiles, nodes)) {
    problems.add({mistake.code, mistake.message, place, mistake.hint});
  }
}

}  // namespace athanor
