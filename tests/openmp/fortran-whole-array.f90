! Every thread raises the whole array.
! expect: race on a, lines 11 and 11
program raise
  use omp_lib
  implicit none
  integer, save :: a(100)
  integer :: me
  a = 0
  !$omp parallel num_threads(2) private(me)
  me = omp_get_thread_num()
  a(1:100) = a(1:100) + 1
  !$omp end parallel
  if (a(1) > 2) stop 1
end program
