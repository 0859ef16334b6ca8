! Each thread goes on counting from a start of its own.
! expect: no race
program numbering
  implicit none
  integer :: next, i, ids(100)
  next = 10
  !$omp parallel do firstprivate(next)
  do i = 1, 100
    next = next + 1
    ids(i) = next
  end do
  if (ids(1) < 0) stop 1
end program
