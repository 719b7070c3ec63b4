#include "settings.h"

namespace emulator {

Settings settings;

}  // namespace emulator
