! A task's result is read without waiting for it.
! expect: race on x, lines 13 and 15
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
  seen = x
  !$omp end single
  !$omp end parallel
  if (seen > 1) stop 1
end program
