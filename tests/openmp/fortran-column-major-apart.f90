! Two elements of a matrix, in each other's place, are two.
! expect: no race
program matrix
  implicit none
  complex(8), save :: m(4, 4)
  m = 0
  !$omp parallel sections
  !$omp section
  m(3, 2) = (1, 0)
  !$omp section
  m(2, 3) = (0, 1)
  !$omp end parallel sections
  if (abs(m(1, 1)) > 0) stop 1
end program
