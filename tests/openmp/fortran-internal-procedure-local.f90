! An internal procedure changes its own variable.
! expect: no race
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
    integer :: steps
    steps = 1
  end subroutine
end program
