! Every thread runs its own part of a concurrent loop.
! expect: no race
program concurrent_loop
  use omp_lib
  implicit none
  integer, save :: a(400)
  integer :: i, me
  a = 0
  !$omp parallel private(i, me) num_threads(2)
  me = omp_get_thread_num()
  do concurrent (i = 1 + 200 * me:200 + 200 * me)
    a(i) = i
  end do
  !$omp end parallel
  if (a(1) /= 1) stop 1
end program
