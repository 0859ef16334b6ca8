! Nobody waits for the units of a workshare.
! expect: race on a, lines 13 and 15
! compiler: flang
program shared_units
  use omp_lib
  implicit none
  integer :: a(1000), b(0:3), me
  a = 0
  b = 0
  !$omp parallel private(me) num_threads(2)
  me = omp_get_thread_num()
  !$omp workshare
  a(1:1000) = 1
  !$omp end workshare nowait
  b(me) = a(1) + a(1000)
  !$omp end parallel
  if (b(0) > 2) stop 1
end program
