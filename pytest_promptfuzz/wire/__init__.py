"""HTTP below the SDKs: transports that are followed, calls, streams, recordings in use, the network guard."""
