! Every thread raises its slice of the array.
! expect: no race
program raise
  use omp_lib
  implicit none
  integer, save :: a(100)
  integer :: me
  a = 0
  !$omp parallel num_threads(2) private(me)
  me = omp_get_thread_num()
  a(1 + 50 * me:50 + 50 * me) = a(1 + 50 * me:50 + 50 * me) + 1
  !$omp end parallel
  if (a(1) > 2) stop 1
end program
