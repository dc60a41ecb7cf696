"""A real llama.cpp server with a tiny model, run as a program: `python llama.py MODEL`; prints its address."""

import sys
import threading

import xllamacpp

settings = xllamacpp.CommonParams()
settings.model.path = sys.argv[1]
settings.n_ctx = 4096
settings.n_parallel = 1
settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 2
settings.hostnames = ["127.0.0.1"]
settings.port = 0
server = xllamacpp.Server(settings)
print("listening", server.listening_address, flush=True)
threading.Event().wait()
