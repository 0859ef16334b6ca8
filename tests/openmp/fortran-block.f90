! A variable of a block is each iteration's own.
! expect: no race
program blocks
  implicit none
  integer :: i, out(100)
  !$omp parallel do
  do i = 1, 100
    block
      integer :: square
      square = i * i
      out(i) = square
    end block
  end do
  if (out(1) < 0) stop 1
end program
