! A taskwait does not wait for a task's own tasks.
! expect: race on x, lines 15 and 19
! compiler: gfortran
! threads: 1 2 4 16
program grandchild
  implicit none
  integer, save :: x
  integer :: seen
  x = 0
  seen = 0
  !$omp parallel
  !$omp single
  !$omp task
  !$omp task
  x = 1
  !$omp end task
  !$omp end task
  !$omp taskwait
  seen = x
  !$omp end single
  !$omp end parallel
  if (seen > 1) stop 1
end program
