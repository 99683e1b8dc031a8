"""One promise shared among several answers: found in floats, proved in exact numbers."""
