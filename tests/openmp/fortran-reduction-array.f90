! Each thread counts into an array of its own, which are added in the end.
! expect: no race
program histogram
  implicit none
  integer :: counts(0:3), i
  counts = 0
  !$omp parallel do reduction(+:counts)
  do i = 1, 400
    counts(mod(i, 4)) = counts(mod(i, 4)) + 1
  end do
  if (sum(counts) > 400) stop 1
end program
