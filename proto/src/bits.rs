//! Bits in and out of datagrams.
