//! System calls that a program makes itself and tells of (`linux_syscall_hooks.h`): before it makes one, and after.
//!
//! What most of them do to the program's memory is not looked at.

use std::ffi::{c_int, c_long};

use super::annotations::nothing;
use super::{export, export_one};
use crate::interpose::descriptors::closes;
use crate::interpose::memory::{reads, writes};
use crate::interpose::process::{after_own_fork, before_own_fork};

extern "C" fn before_close(file: c_long, pc: usize) {
    closes(file as c_int, pc);
}

extern "C" fn before_read(_file: c_long, place: usize, size: usize, pc: usize) {
    writes(place, size, pc);
}

extern "C" fn before_write(_file: c_long, place: usize, size: usize, pc: usize) {
    reads(place, size, pc);
}

extern "C" fn before_fork() {
    before_own_fork();
}

extern "C" fn after_fork(child: c_long) {
    after_own_fork(child as c_int);
}

export! {
    "__sanitizer_syscall_pre_impl_close" 1 => before_close;
    "__sanitizer_syscall_post_impl_close" plain => nothing;
    "__sanitizer_syscall_pre_impl_read" 3 => before_read;
    "__sanitizer_syscall_post_impl_read" plain => nothing;
    "__sanitizer_syscall_pre_impl_write" 3 => before_write;
    "__sanitizer_syscall_post_impl_write" plain => nothing;
    "__sanitizer_syscall_pre_impl_fork" plain => before_fork;
    "__sanitizer_syscall_post_impl_fork" plain => after_fork;
    // The child of a real one shares the memory: it may do nothing but become another program.
    "__sanitizer_syscall_pre_impl_vfork" plain => nothing;
    "__sanitizer_syscall_post_impl_vfork" plain => nothing;
}

/// Exports both functions of each of these system calls, which do nothing.
macro_rules! do_nothing {
    ($($name:ident)*) => {
        $(export_one!(concat!("__sanitizer_syscall_pre_impl_", stringify!($name)), plain, nothing);
        export_one!(concat!("__sanitizer_syscall_post_impl_", stringify!($name)), plain, nothing);)*
    };
}

#[rustfmt::skip]
do_nothing! {
    accept accept4 access acct add_key adjtimex alarm bdflush bind brk capget capset chdir chmod chown chown16 chroot
    clock_adjtime clock_getres clock_gettime clock_nanosleep clock_settime connect creat delete_module dup dup2 dup3
    epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 exit exit_group
    faccessat fanotify_init fanotify_mark fchdir fchmod fchmodat fchown fchown16 fchownat fcntl fcntl64 fdatasync
    fgetxattr flistxattr flock fremovexattr fsetxattr fstat fstat64 fstatat64 fstatfs fstatfs64 fsync ftruncate futex
    futimesat get_mempolicy get_robust_list getcpu getcwd getdents getdents64 getegid getegid16 geteuid geteuid16
    getgid getgid16 getgroups getgroups16 gethostname getitimer getpeername getpgid getpgrp getpid getppid getpriority
    getresgid getresgid16 getresuid getresuid16 getrlimit getrusage getsid getsockname getsockopt gettid gettimeofday
    getuid getuid16 getxattr init_module inotify_add_watch inotify_init inotify_init1 inotify_rm_watch io_cancel
    io_destroy io_getevents io_setup io_submit ioctl ioperm ioprio_get ioprio_set ipc kexec_load keyctl kill lchown
    lchown16 lgetxattr link linkat listen listxattr llistxattr llseek lookup_dcookie lremovexattr lseek lsetxattr
    lstat lstat64 madvise mbind migrate_pages mincore mkdir mkdirat mknod mknodat mlock mlockall mmap_pgoff mount
    move_pages mprotect mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink mremap msgctl msgget
    msgrcv msgsnd msync munlock munlockall munmap name_to_handle_at nanosleep newfstat newfstatat newlstat newstat
    newuname ni_syscall nice old_getrlimit old_mmap old_readdir old_select oldumount olduname open open_by_handle_at
    openat pause pciconfig_iobase pciconfig_read pciconfig_write perf_event_open personality pipe pipe2 pivot_root
    poll ppoll pread64 preadv prlimit64 process_vm_readv process_vm_writev pselect6 ptrace pwrite64 pwritev quotactl
    readlink readlinkat readv reboot recv recvfrom recvmmsg recvmsg remap_file_pages removexattr rename renameat
    request_key restart_syscall rmdir rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigtimedwait
    rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getparam
    sched_getscheduler sched_rr_get_interval sched_setaffinity sched_setparam sched_setscheduler sched_yield select
    semctl semget semop semtimedop send sendfile sendfile64 sendmmsg sendmsg sendto set_mempolicy set_robust_list
    set_tid_address setdomainname setfsgid setfsgid16 setfsuid setfsuid16 setgid setgid16 setgroups setgroups16
    sethostname setitimer setns setpgid setpriority setregid setregid16 setresgid setresgid16 setresuid setresuid16
    setreuid setreuid16 setrlimit setsid setsockopt settimeofday setuid setuid16 setxattr sgetmask shmat shmctl shmdt
    shmget shutdown sigaction sigaltstack signal signalfd signalfd4 sigpending sigprocmask socket socketcall
    socketpair splice spu_create spu_run ssetmask stat stat64 statfs statfs64 stime swapoff swapon symlink symlinkat
    sync syncfs sysctl sysfs sysinfo syslog tee tgkill time timer_create timer_delete timer_getoverrun timer_gettime
    timer_settime timerfd_create timerfd_gettime timerfd_settime times tkill truncate umask umount uname unlink
    unlinkat unshare uselib ustat utime utimensat utimes vhangup vmsplice wait4 waitid waitpid writev
}
