//! The wire: every kind that Machinist serves, one file a kind, and the CRDs generated from them.
