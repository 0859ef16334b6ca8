! Each thread goes on counting from a start that all share.
! expect: race on next, lines 9 and 9
program numbering
  implicit none
  integer :: next, i, ids(100)
  next = 10
  !$omp parallel do
  do i = 1, 100
    next = next + 1
    ids(i) = next
  end do
  if (ids(1) < 0) stop 1
end program
