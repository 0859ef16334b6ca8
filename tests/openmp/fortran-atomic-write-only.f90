! A variable is written atomically and read plainly.
! expect: race on x, lines 12 and 15
! compiler: gfortran
program read_and_write
  use omp_lib
  implicit none
  integer :: x, seen
  x = 0
  seen = 0
  !$omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) then
    !$omp atomic write
    x = 1
  else
    seen = x
  end if
  !$omp end parallel
  if (seen > 1) stop 1
end program
