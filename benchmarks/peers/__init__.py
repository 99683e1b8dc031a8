"""Other libraries, each in an environment and a process of its own.

environments   makes the environments, under .cache/bench
process        starts a peer's process there and talks to it
speaking       what that process answers
drive_*        how each library is asked for its noises; runs in its environment alone
"""
