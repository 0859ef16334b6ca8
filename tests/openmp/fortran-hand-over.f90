! A flag is set by a release and seen by an acquire.
! expect: no race
program hand_over
  use omp_lib
  implicit none
  integer :: message, flag, seen, got
  message = 0
  flag = 0
  got = 0
  !$omp parallel num_threads(2) private(seen)
  if (omp_get_thread_num() == 0) then
    message = 42
    !$omp atomic write release
    flag = 1
  else
    seen = 0
    do while (seen == 0)
      !$omp atomic read acquire
      seen = flag
    end do
    got = message
  end if
  !$omp end parallel
  if (got > 42) stop 1
end program
