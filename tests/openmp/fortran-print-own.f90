! Each thread prints what is its own.
! expect: no race
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
    write (*, *) 'value', mine
  end if
  !$omp end parallel
end program
