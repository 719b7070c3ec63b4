# The emulated device's memory: a library of its own, which torch's device and the machine share.
include_guard(GLOBAL)
set(device_memory_parts device_memory.cpp fault.cpp settings.cpp)
list(TRANSFORM device_memory_parts PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
add_library(device_memory SHARED ${device_memory_parts})
target_include_directories(device_memory PUBLIC
  ${CMAKE_CURRENT_LIST_DIR} ${CMAKE_CURRENT_LIST_DIR}/..)
target_compile_options(device_memory PRIVATE -O2 -Wall -Wextra -Werror)
