! Critical sections of one name exclude each other.
! expect: no race
module counter
  implicit none
  integer :: n = 0
contains
  subroutine up()
    !$omp critical (first)
    n = n + 1
    !$omp end critical (first)
  end subroutine
  subroutine down()
    !$omp critical (first)
    n = n - 1
    !$omp end critical (first)
  end subroutine
end module

program names
  use counter
  use omp_lib
  implicit none
  !$omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) then
    call up()
  else
    call down()
  end if
  !$omp end parallel
  if (n > 1) stop 1
end program
