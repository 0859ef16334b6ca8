! Only the last iteration's value leaves the loop.
! expect: no race
! options: -O0
program last_value
  implicit none
  integer :: last, i
  last = 0
  !$omp parallel do lastprivate(last)
  do i = 1, 100
    last = 3 * i
  end do
  if (last < 3) stop 1
end program
