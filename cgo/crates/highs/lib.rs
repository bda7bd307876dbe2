//! Empty: cargo wants a target, and only the sources of the dependency are used.
