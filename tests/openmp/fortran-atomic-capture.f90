! A ticket is taken by one atomic capture.
! expect: no race
! compiler: gfortran
program take_tickets
  implicit none
  integer :: tickets, mine, taken(400), i
  tickets = 0
  taken = 0
  !$omp parallel do private(mine)
  do i = 1, 100
    !$omp atomic capture
    tickets = tickets + 1
    mine = tickets
    !$omp end atomic
    taken(i) = mine
  end do
  if (tickets > 100) stop 1
end program
