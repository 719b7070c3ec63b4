"""Augmentation of sound: batches of waveforms, on the device that trains.

All random numbers come from NumPy on the host, so that a batch is the same on every device.
"""
