// The emulated device's memory, as torch sees it. Any thread may call these.
#pragma once

#include <cstddef>

extern "C" {
// nullptr where memory is refused: there is none, or a failure was injected. Uninitialised.
void* emulator_allocate(std::size_t bytes);
void emulator_release(void* memory);
// The host has written: initialised from now on.
void emulator_host_wrote(void* at, std::size_t bytes);
// nullptr, or why the device is of no more use: then every copy and allocation fails.
const char* emulator_sticky_error();
}
