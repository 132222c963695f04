//! Sets the soname of the shared library on Linux to the name under which `install` and cargo-c
//! install it. Programs that are linked with the library load `libobsp_client.so.0.1` and no other
//! version. While the major version is 0, each minor version may break the ABI, so the name
//! contains the minor version.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    if variable("CARGO_CFG_TARGET_OS") == "linux" {
        let major = variable("CARGO_PKG_VERSION_MAJOR");
        let abi = match major.as_str() {
            "0" => format!("0.{}", variable("CARGO_PKG_VERSION_MINOR")),
            _ => major,
        };
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libobsp_client.so.{abi}");
    }
}
