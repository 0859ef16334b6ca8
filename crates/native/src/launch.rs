//! Running a program under test: it gets its environment, its signals and its terminal as if it ran alone.
//!
//! Signals sent to this process go on to the program; those the terminal sends (Ctrl-C) reach it anyway, and
//! this process outlives them, so the report comes whatever ended the program. Processes that the program leaves behind
//! become this one's children, which is how it knows of them: one program runs at a time.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use thiserror::Error;

use crate::findings::findings_files;

/// A program under test.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Its path, or a name that is looked up as a shell does.
    pub path: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// End it by SIGTERM after so long.
    pub timeout: Option<Duration>,
}

/// What to run.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program.
    pub program: Program,
    /// Further variables of its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The directory for the files that it leaves, until they have been read; that for temporary ones if none is given.
    pub room: Option<PathBuf>,
}

/// How it went.
#[derive(Debug)]
pub struct Outcome {
    /// How the program ended.
    pub status: ExitStatus,
    /// The files of findings, one a process; none if nothing built by `deadheat cc` ran.
    pub files: Vec<PathBuf>,
    /// There was no room for all findings, or none left when the program had ended: some may be lost.
    pub full: bool,
    /// Processes that the program started still ran [a little later](LEFT_BEHIND): what they do is not known.
    pub left_behind: bool,
    /// The files disappear with it.
    _directory: TempDir,
}

/// Why the program did not run.
#[derive(Debug, Error)]
pub enum LaunchError {
    /// It could not be started.
    #[error("`{program}` could not be started: {error}")]
    Start {
        /// What was to be run.
        program: String,
        /// What the system said.
        error: io::Error,
    },
    /// There is no room for findings.
    #[error(
        "there is no room for what the program finds: {0}; set TMPDIR to a directory that can be written to"
    )]
    Room(io::Error),
}

impl Outcome {
    /// The status a shell gives back for a program that ended so.
    pub fn code(&self) -> u8 {
        use std::os::unix::process::ExitStatusExt;
        let signal = self.status.signal().map(|signal| 128 + signal);
        self.status.code().or(signal).unwrap_or(1) as u8
    }
}

/// How many bytes there must be room for.
const ROOM: usize = 256 << 10;

/// Makes sure that findings can be written: a program that finds and cannot tell would seem to have no race.
fn has_room(directory: &Path) -> io::Result<()> {
    let file = directory.join("room");
    let written = std::fs::write(&file, vec![0; ROOM]);
    let _ = std::fs::remove_file(file);
    written
}

/// Whether the program could not write all that it wanted to a file: it takes the right to write away then.
fn is_cut(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|file| file.permissions().readonly())
}

/// How long processes that outlive the program are waited for.
const LEFT_BEHIND: Duration = Duration::from_secs(1);

/// How many threads OpenMP's teams have at least, unless the user says otherwise.
const FEW: usize = 4;

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The program, for the handler; 0 while there is none.
static PROGRAM: AtomicI32 = AtomicI32::new(0);
/// A signal that came before the program ran; 0 if none did.
static EARLY: AtomicI32 = AtomicI32::new(0);

/// Runs a program to its end. `meanwhile` is called a few times a second with the path of the first file of
/// findings.
pub fn launch(
    launch: &Launch,
    mut meanwhile: Option<&mut dyn FnMut(&Path)>,
) -> Result<Outcome, LaunchError> {
    let directory = tempfile::Builder::new()
        .prefix("deadheat-")
        .tempdir_in(launch.room.clone().unwrap_or_else(std::env::temp_dir))
        .and_then(|directory| Ok((directory.path().canonicalize()?, directory)));
    let (path, directory) = directory.map_err(LaunchError::Room)?;
    has_room(&path).map_err(LaunchError::Room)?;
    let path = path.join("findings");
    pass_signals_on();
    if let Some(time) = launch.program.timeout {
        std::thread::spawn(move || {
            std::thread::sleep(time);
            // It passes the signal on.
            send(std::process::id() as i32, libc::SIGTERM);
        });
    }
    let mut command = Command::new(&launch.program.path);
    command
        .args(&launch.program.arguments)
        .env("DEADHEAT_REPORT", &path)
        .env("DEADHEAT_MODE", "check");
    if std::env::var_os("OMP_NUM_THREADS").is_none() && cores() < FEW {
        // With one thread a team has nothing to race with.
        command.env("OMP_NUM_THREADS", FEW.to_string());
    }
    command.envs(launch.environment.iter().map(|(name, value)| (name, value)));
    let start = |error| LaunchError::Start {
        program: launch.program.path.to_string_lossy().into_owned(),
        error,
    };
    adopt();
    let mut program = command.spawn().map_err(start)?;
    PROGRAM.store(program.id() as i32, Ordering::SeqCst);
    let early = EARLY.swap(0, Ordering::SeqCst);
    if early != 0 {
        send(program.id() as i32, early);
    }
    let status = loop {
        match &mut meanwhile {
            None => break program.wait().map_err(start)?,
            Some(meanwhile) => {
                if let Some(status) = program.try_wait().map_err(start)? {
                    break status;
                }
                meanwhile(&path);
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    };
    PROGRAM.store(0, Ordering::SeqCst);
    let left_behind = !have_ended(LEFT_BEHIND);
    let files = findings_files(&path);
    Ok(Outcome {
        status,
        left_behind,
        full: has_room(directory.path()).is_err() || files.iter().any(|file| is_cut(file)),
        files,
        _directory: directory,
    })
}

/// From now on, this process is the parent of those that the program leaves behind.
#[allow(unsafe_code)]
fn adopt() {
    // SAFETY: takes numbers.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
}

/// Waits for the end of all children, but not longer than that; says whether they have ended.
#[allow(unsafe_code)]
fn have_ended(patience: Duration) -> bool {
    let until = Instant::now() + patience;
    loop {
        // SAFETY: nobody wants to know how it ended.
        match unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) } {
            0 if Instant::now() >= until => return false,
            0 => std::thread::sleep(Duration::from_millis(5)),
            -1 => return true,
            _ => {}
        }
    }
}

#[allow(unsafe_code)]
fn send(process: i32, signal: i32) {
    // SAFETY: kill only takes numbers. The process is this one, or has not been waited for: its id is still its own.
    unsafe { libc::kill(process, signal) };
}

/// From now on, signals that end or steer programs go to the program instead.
#[allow(unsafe_code)]
fn pass_signals_on() {
    extern "C" fn pass_on(
        signal: libc::c_int,
        information: *mut libc::siginfo_t,
        _: *mut libc::c_void,
    ) {
        // SAFETY: the kernel passes a valid record to a handler with SA_SIGINFO.
        let sent_by_a_process = unsafe { (*information).si_code } <= 0;
        // What the terminal sends goes to the whole group, the program included.
        if !sent_by_a_process {
            return;
        }
        match PROGRAM.load(Ordering::SeqCst) {
            0 => EARLY.store(signal, Ordering::SeqCst),
            program => send(program, signal),
        }
    }
    for signal in [
        libc::SIGINT,
        libc::SIGTERM,
        libc::SIGHUP,
        libc::SIGQUIT,
        libc::SIGUSR1,
        libc::SIGUSR2,
    ] {
        // SAFETY: all fields are set; the handler only uses atomics and kill, which are safe in handlers.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = pass_on as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}
