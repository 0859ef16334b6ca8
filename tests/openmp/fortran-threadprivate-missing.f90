! A module's variable is every thread's own in name only.
! expect: race on state, lines 8 and 8
module generator
  implicit none
  integer, save :: state = 1
contains
  integer function draw()
    state = mod(state * 75 + 74, 65537)
    draw = state
  end function
end module

program draw_numbers
  use generator
  implicit none
  integer :: i, out(100)
  state = 7
  !$omp parallel do
  do i = 1, 100
    out(i) = draw()
  end do
  if (out(1) < 0) stop 1
end program
