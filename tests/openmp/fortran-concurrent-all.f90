! Every thread runs the whole of a loop that is concurrent in itself.
! expect: race on a, lines 12 and 12
program concurrent_loop
  use omp_lib
  implicit none
  integer, save :: a(400)
  integer :: i, me
  a = 0
  !$omp parallel private(i, me) num_threads(2)
  me = omp_get_thread_num()
  do concurrent (i = 1:400)
    a(i) = i
  end do
  !$omp end parallel
  if (a(1) /= 1) stop 1
end program
