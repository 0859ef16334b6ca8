! A procedure adds up its argument in an element of its call.
! expect: no race
module sums
  implicit none
contains
  subroutine add_up(values, total)
    integer, intent(in) :: values(:)
    integer, intent(inout) :: total
    integer :: i
    do i = 1, size(values)
      total = total + values(i)
    end do
  end subroutine
end module

program add_columns
  use sums
  implicit none
  integer :: table(10, 20), totals(20), j
  table = 1
  totals = 0
  !$omp parallel do
  do j = 1, 20
    call add_up(table(:, j), totals(j))
  end do
  if (sum(totals) > 200) stop 1
end program
