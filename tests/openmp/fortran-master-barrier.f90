! The master sets what the others read after a barrier.
! expect: no race
program master_sets
  implicit none
  integer :: x, seen
  x = 0
  seen = 0
  !$omp parallel reduction(+:seen)
  !$omp master
  x = 1
  !$omp end master
  !$omp barrier
  seen = seen + x
  !$omp end parallel
  if (seen > 16) stop 1
end program
