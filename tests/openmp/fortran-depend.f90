! The second task names what it needs of the first.
! expect: no race
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
  !$omp task shared(x, y) depend(in: x)
  y = x
  !$omp end task
  !$omp end single
  !$omp end parallel
  if (y > 1) stop 1
end program
