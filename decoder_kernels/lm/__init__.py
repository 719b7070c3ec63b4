"""Language models at run time: images that are mapped into memory, one file each."""
