//! Plays a scene by scripts and prints its outcome. `--help` lists the scenes. The exit code is 0
//! if the scene went as it should, and 1 if not.

use std::fmt::Display;
use std::process::ExitCode;

use clap::Parser;
use serde::Serialize;
use tests::scene::{Scene, SceneError, SceneOptions, heap, landing, mass_landing};

fn main() -> ExitCode {
    match play(SceneOptions::parse().scene) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Plays a scene and prints its outcome. Returns whether the scene passed.
fn play(scene: Scene) -> Result<bool, SceneError> {
    match scene {
        Scene::Landing(options) => match options.landers {
            Some(landers) => {
                let outcome = mass_landing(landers, &options)?;
                print(&outcome, options.json);
                Ok(outcome.is_as_meant())
            }
            None => {
                let outcome = landing(&options)?;
                print(&outcome, options.json);
                Ok(outcome.is_as_meant())
            }
        },
        Scene::Heap(options) => {
            let outcome = heap(&options)?;
            print(&outcome, options.json);
            Ok(outcome.is_clean())
        }
    }
}

fn print(outcome: &(impl Serialize + Display), json: bool) {
    if json {
        println!("{}", serde_json::to_string_pretty(outcome).expect("all keys are text"));
    } else {
        println!("{outcome}");
    }
}
