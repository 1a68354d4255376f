"""Peer methods in PyTorch on c2cnet's data files: DeepONet, FNO, BasisONet, B2B."""
