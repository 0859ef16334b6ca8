! A variable of the program is used in each iteration.
! expect: race on square, lines 11 and 11
! options: -O0
program blocks
  implicit none
  integer :: i, out(100)
  integer :: square
  !$omp parallel do
  do i = 1, 100
    block
      square = i * i
      out(i) = square
    end block
  end do
  if (out(1) < 0) stop 1
end program
