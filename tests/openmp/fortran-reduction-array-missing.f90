! Threads count into one array.
! expect: race on counts, lines 9 and 9
program histogram
  implicit none
  integer :: counts(0:3), i
  counts = 0
  !$omp parallel do
  do i = 1, 400
    counts(mod(i, 4)) = counts(mod(i, 4)) + 1
  end do
  if (sum(counts) > 400) stop 1
end program
