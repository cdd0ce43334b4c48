"""The parts of the comparison with other sparse QR libraries; `peers.py` beside this folder puts them together."""
