! The greatest is found by a reduction.
! expect: no race
program maximum
  implicit none
  integer :: values(100), greatest, i
  do i = 1, 100
    values(i) = i
  end do
  greatest = 0
  !$omp parallel do reduction(max:greatest)
  do i = 1, 100
    if (values(i) > greatest) greatest = values(i)
  end do
  if (greatest < 1) stop 1
end program
