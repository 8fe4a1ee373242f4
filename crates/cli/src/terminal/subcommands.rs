//! An enum of commands, each of which can run.

/// Defines the enum and its `run`, which runs the chosen command. What stands after `=>` goes to the command's own `run`.
macro_rules! subcommands {
    ($(#[$of_all:meta])* $visibility:vis enum $type:ident {
        $($(#[$of_one:meta])* $name:ident($command:ty) $(=> $argument:expr)?,)*
    }) => {
        $(#[$of_all])*
        #[derive(Debug, clap::Subcommand)]
        $visibility enum $type {
            $($(#[$of_one])* $name($command),)*
        }

        impl $type {
            pub(crate) fn run(self) -> anyhow::Result<()> {
                match self {
                    $(Self::$name(command) => command.run($($argument)?),)*
                }
            }
        }
    };
}
pub(crate) use subcommands;
