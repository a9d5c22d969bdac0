"""The contract gate at work: a scripted model, two real MCP servers, every dialect.

Read `host.py` first: it is the loop of a harness with the gate in it. `scenes.py` tells what
happens, `model.py` plays the model, `servers.py` starts the servers behind a tap.
"""
