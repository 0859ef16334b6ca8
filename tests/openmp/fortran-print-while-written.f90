! A thread prints what another one writes.
! expect: race on x, lines 11 and 13
program printing
  use omp_lib
  implicit none
  integer :: x, mine
  x = 1
  !$omp parallel num_threads(2) private(mine)
  mine = omp_get_thread_num()
  if (mine == 0) then
    x = 2
  else
    write (*, *) 'value', x
  end if
  !$omp end parallel
end program
