! What one thread has read is copied to the others.
! expect: no race
program hand_out
  use omp_lib
  implicit none
  integer, save :: x
  integer :: seen(0:3)
  x = 0
  seen = 0
  !$omp parallel num_threads(2) private(x)
  !$omp single
  x = 5
  !$omp end single copyprivate(x)
  seen(omp_get_thread_num()) = x
  x = x + 1
  !$omp end parallel
  if (seen(0) < 5) stop 1
end program
