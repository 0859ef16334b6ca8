! The greatest so far is compared and replaced by all threads.
! expect: race on greatest, lines 12 and 12
program maximum
  implicit none
  integer :: values(100), greatest, i
  do i = 1, 100
    values(i) = i
  end do
  greatest = 0
  !$omp parallel do
  do i = 1, 100
    if (values(i) > greatest) greatest = values(i)
  end do
  if (greatest < 1) stop 1
end program
