! Two pointers have one element in common.
! expect: race on *, lines 12 and 14
program two_pointers
  implicit none
  integer, target, save :: a(100)
  integer, pointer :: low(:), high(:)
  a = 0
  low => a(1:50)
  high => a(50:100)
  !$omp parallel sections
  !$omp section
  low(50) = 1
  !$omp section
  high(1) = 2
  !$omp end parallel sections
  if (sum(a) > 3) stop 1
end program
