! Nobody waits for the thread that sets a variable.
! expect: race on x, lines 10 and 12
program set_once
  implicit none
  integer :: x, seen
  x = 0
  seen = 0
  !$omp parallel num_threads(2) reduction(+:seen)
  !$omp single
  x = 1
  !$omp end single nowait
  seen = seen + x
  !$omp end parallel
  if (seen > 2) stop 1
end program
