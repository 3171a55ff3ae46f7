"""HTTP seen from below the SDKs: interception, the canonical key, the store, redaction."""
