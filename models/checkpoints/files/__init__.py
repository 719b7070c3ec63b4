"""Files and folders of weights and settings, whoever wrote them, read with care."""
