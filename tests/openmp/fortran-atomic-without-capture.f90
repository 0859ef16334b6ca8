! A ticket is taken by an update and a read of their own.
! expect: race on tickets, lines 11 and 13
! compiler: gfortran
program take_tickets
  implicit none
  integer :: tickets, mine, taken(400), i
  tickets = 0
  taken = 0
  !$omp parallel do private(mine)
  do i = 1, 100
    !$omp atomic update
    tickets = tickets + 1
    mine = tickets
    taken(i) = mine
  end do
  if (tickets > 100) stop 1
end program
