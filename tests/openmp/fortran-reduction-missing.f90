! A sum without a reduction.
! expect: race on total, lines 10 and 10
program sum_of_squares
  implicit none
  integer :: i
  real(8) :: total
  total = 0
  !$omp parallel do
  do i = 1, 100
    total = total + real(i, 8)**2
  end do
  if (total < 0) stop 1
end program
