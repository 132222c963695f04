//! Code that all other modules use: addresses and sockets, the clocks, files that others may write,
//! threads and their end, budgets that refill, values of options, labels of metrics, and the errors
//! of starting and running. It uses none of the other modules.

pub(crate) mod address_key;
pub(crate) mod address_prefix;
pub(crate) mod bind;
pub(crate) mod clock;
pub(crate) mod error;
pub(crate) mod options;
pub(crate) mod regular_file;
pub(crate) mod socket_address;
pub(crate) mod state_file;
pub(crate) mod stop;
pub(crate) mod threads;
pub(crate) mod token_bucket;

/// Declares an enumeration whose values have labels in metrics.
macro_rules! labelled {
    (
        $(#[$about:meta])*
        $visibility:vis enum $type:ident {
            $($(#[$documentation:meta])* $name:ident = $label:literal,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visibility enum $type {
            $($(#[$documentation])* $name,)*
        }

        impl $type {
            /// All values, in the order of their numbers (`value as usize`).
            pub(crate) const ALL: [Self; [$(Self::$name),*].len()] = [$(Self::$name),*];

            /// The name by which programs and metrics know the value.
            pub(crate) fn label(self) -> &'static str {
                match self {
                    $(Self::$name => $label,)*
                }
            }
        }
    };
}
pub(crate) use labelled;
