//! The program `specht`; everything is in the library beside it.

fn main() -> std::process::ExitCode {
    specht_cli::main()
}
