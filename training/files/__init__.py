"""Files and folders that training reads and makes."""
