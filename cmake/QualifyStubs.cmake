# cmake -DSTUBS=DIR -P: the stub generator sees a top-level module; installed, it lies in the package.
file(GLOB stubs ${STUBS}/*.pyi)
foreach(stub IN LISTS stubs)
  file(READ ${stub} text)
  string(REGEX REPLACE "([^._a-z])_native" "\\1earshot.decoder_kernels._native" text "${text}")
  file(WRITE ${stub} "${text}")
endforeach()
