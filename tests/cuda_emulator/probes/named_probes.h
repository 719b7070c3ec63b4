// Probes that tests ask for by their names.
#pragma once

#include <cstring>

template <class Probe>
struct Named {
  const char* name;
  Probe probe;
};

#define NAMED(probe) {#probe, probe}

// nullptr where there is none of that name.
template <class Probe, int COUNT>
Probe find_probe(const Named<Probe> (&probes)[COUNT], const char* name) {
  for (const Named<Probe>& each : probes) {
    if (std::strcmp(each.name, name) == 0) return each.probe;
  }
  return nullptr;
}
