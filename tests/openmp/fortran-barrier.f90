! Each thread reads what its neighbour has written before a barrier.
! expect: no race
program neighbours
  use omp_lib
  implicit none
  integer :: part(0:15), seen(0:15), me, other
  part = 0
  seen = 0
  !$omp parallel private(me, other)
  me = omp_get_thread_num()
  other = mod(me + 1, omp_get_num_threads())
  part(me) = me + 1
  !$omp barrier
  seen(me) = part(other)
  !$omp end parallel
  if (seen(0) > 16) stop 1
end program
