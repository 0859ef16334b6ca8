! A sum by a reduction.
! expect: no race
program sum_of_squares
  implicit none
  integer :: i
  real(8) :: total
  total = 0
  !$omp parallel do reduction(+:total)
  do i = 1, 100
    total = total + real(i, 8)**2
  end do
  if (total < 0) stop 1
end program
