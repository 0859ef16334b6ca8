! The second task does not name what it needs of the first.
! expect: race on x, lines 13 and 16
! compiler: gfortran
! threads: 1 2 4 16
program two_tasks
  implicit none
  integer :: x, y
  x = 0
  y = 0
  !$omp parallel
  !$omp single
  !$omp task shared(x) depend(out: x)
  x = 1
  !$omp end task
  !$omp task shared(x, y) depend(in: y)
  y = x
  !$omp end task
  !$omp end single
  !$omp end parallel
  if (y > 1) stop 1
end program
