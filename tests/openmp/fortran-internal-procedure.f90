! An internal procedure changes its host's variable.
! expect: race on *, lines 15 and 15
! compiler: flang
program host
  implicit none
  integer :: steps, i
  steps = 0
  !$omp parallel do
  do i = 1, 100
    call step()
  end do
  if (steps > 100) stop 1
contains
  subroutine step()
    steps = steps + 1
  end subroutine
end program
