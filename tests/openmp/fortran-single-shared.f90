! What one thread has read goes to the others in a variable that it changes afterwards.
! expect: race on x, lines 15 and 16
! expect: race on x, lines 16 and 16
program hand_out
  use omp_lib
  implicit none
  integer, save :: x
  integer :: seen(0:3)
  x = 0
  seen = 0
  !$omp parallel num_threads(2)
  !$omp single
  x = 5
  !$omp end single
  seen(omp_get_thread_num()) = x
  x = x + 1
  !$omp end parallel
  if (seen(0) < 5) stop 1
end program
