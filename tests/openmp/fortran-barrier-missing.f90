! Each thread reads what its neighbour writes.
! expect: race on part, lines 12 and 13
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
  seen(me) = part(other)
  !$omp end parallel
  if (seen(0) > 16) stop 1
end program
