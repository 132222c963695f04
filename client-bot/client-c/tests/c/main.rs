//! The interface for C: its header, and callers that break its contract.

mod abuse;
mod header;
