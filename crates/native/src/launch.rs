//! Running a program under test: it gets its environment, its signals and its terminal as if it ran alone.
//!
//! Signals sent to this process go on to the program; those the terminal sends (Ctrl-C) reach it anyway, and
//! this process outlives them, so the report comes whatever ended the program. Processes that the program leaves behind
//! become this one's children, which is how it knows of them: one program runs at a time.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use thiserror::Error;

use crate::findings::Process;
use crate::mailbox::Mailbox;
use crate::private::temporary_directory;
use crate::waits::Waiter;

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
    /// Where it is recorded, if it is, instead of being checked.
    pub tapes: Option<Tapes>,
}

/// What is recorded.
#[derive(Clone, Debug)]
pub struct Tapes {
    /// The directory for them, until they have been read.
    pub room: PathBuf,
    /// How many bytes a process may record.
    pub limit: u64,
}

/// How it went.
#[derive(Debug)]
pub struct Outcome {
    /// How the program ended.
    pub status: ExitStatus,
    /// What its processes have delivered.
    pub mailbox: Mailbox,
    /// Processes that the program started still ran [a little later](LEFT_BEHIND): what they do is not known.
    pub left_behind: bool,
    /// The threads that waited when the time was up, if it was.
    pub waiters: Vec<Waiter>,
    /// The tapes, which disappear with it.
    directory: Option<TempDir>,
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
    #[error("there is no memory that can be shared with the program: {0}")]
    Room(io::Error),
    /// There is no room for a recording.
    #[error("there is no room for the recording in `{}`: {error}", room.display())]
    Tapes {
        /// The directory.
        room: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

impl Outcome {
    /// The status a shell gives back for a program that ended so.
    pub fn code(&self) -> u8 {
        use std::os::unix::process::ExitStatusExt;
        let signal = self.status.signal().map(|signal| 128 + signal);
        self.status.code().or(signal).unwrap_or(1) as u8
    }

    /// The tape of a process, if it was to be recorded.
    pub fn tape(&self, process: &Process) -> Option<PathBuf> {
        let mut path = tapes_in(self.directory.as_ref()?).into_os_string();
        path.push(format!(".{}", process.stream));
        Some(path.into())
    }
}

/// What the tapes in a directory are called, without the number of the process's stream.
fn tapes_in(directory: &TempDir) -> PathBuf {
    directory.path().join("tape")
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

/// Runs a program to its end. `meanwhile` is called a few times a second with what has been delivered.
pub fn launch(
    launch: &Launch,
    mut meanwhile: Option<&mut dyn FnMut(&Mailbox)>,
) -> Result<Outcome, LaunchError> {
    let no_tapes = |error| LaunchError::Tapes {
        room: launch
            .tapes
            .as_ref()
            .map_or(PathBuf::new(), |tapes| tapes.room.clone()),
        error,
    };
    let directory = launch.tapes.as_ref().map(|tapes| {
        let room = tapes.room.canonicalize()?;
        temporary_directory(&room)
    });
    let directory = directory.transpose().map_err(no_tapes)?;
    let paths = directory.as_ref().map(tapes_in);
    let limits = launch.tapes.as_ref().map(|tapes| tapes.limit);
    let mailbox = Mailbox::create(paths.as_deref().zip(limits)).map_err(LaunchError::Room)?;
    pass_signals_on();
    let waiters = Arc::new(Mutex::new(Vec::new()));
    if let Some(time) = launch.program.timeout {
        let (seen, mailbox) = (waiters.clone(), mailbox.try_clone());
        std::thread::spawn(move || {
            std::thread::sleep(time);
            if let (Ok(mailbox), Ok(mut seen)) = (mailbox, seen.lock()) {
                *seen = crate::waits::waiters(&mailbox);
            }
            // It passes the signal on.
            send(std::process::id() as i32, libc::SIGTERM);
        });
    }
    let mut command = Command::new(&launch.program.path);
    command
        .args(&launch.program.arguments)
        .env("DEADHEAT_REPORT", mailbox.path());
    if std::env::var_os("OMP_NUM_THREADS").is_none() && cores() < FEW {
        // With one thread a team has nothing to race with.
        command.env("OMP_NUM_THREADS", FEW.to_string());
    }
    let start = |error| LaunchError::Start {
        program: launch.program.path.to_string_lossy().into_owned(),
        error,
    };
    adopt();
    let mut program = command.spawn().map_err(start)?;
    PROGRAM.store(program.id() as i32, Ordering::SeqCst);
    mailbox.set_program(program.id());
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
                meanwhile(&mailbox);
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    };
    PROGRAM.store(0, Ordering::SeqCst);
    let left_behind = !have_ended(LEFT_BEHIND);
    let waiters = std::mem::take(&mut *waiters.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(Outcome {
        status,
        waiters,
        left_behind,
        mailbox,
        directory,
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
            let mut before: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut before);
            // What is ignored here (`nohup`), the program ignores as well.
            if before.sa_sigaction != libc::SIG_IGN {
                libc::sigaction(signal, &action, std::ptr::null_mut());
            }
        }
    }
}
