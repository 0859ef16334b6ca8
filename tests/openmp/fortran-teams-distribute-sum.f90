! Two teams add to one variable.
! expect: race on total, lines 12 and 12
! compiler: gfortran
program league
  implicit none
  integer, save :: total, part(100)
  integer :: i
  total = 0
  part = 0
  !$omp teams distribute num_teams(2)
  do i = 1, 100
    total = total + i
  end do
  if (total + sum(part) > 5050) stop 1
end program
