! A task's result is read after waiting for it.
! expect: no race
! compiler: gfortran
! threads: 1 2 4 16
program one_task
  implicit none
  integer :: x, seen
  x = 0
  seen = 0
  !$omp parallel
  !$omp single
  !$omp task shared(x)
  x = 1
  !$omp end task
  !$omp taskwait
  seen = x
  !$omp end single
  !$omp end parallel
  if (seen > 1) stop 1
end program
