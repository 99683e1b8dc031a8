"""Other libraries, each in an environment and a process of its own.

environments   creates the environments under .cache/bench
process        starts the process of a peer and sends requests to it
protocol       answers requests inside the process of a peer
drive_*        connects one library to the protocol; runs only in its environment
"""
