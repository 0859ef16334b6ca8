! Every task of a chain names the element before its own.
! expect: no race
! compiler: gfortran
! threads: 1 2 4 16
program chain
  implicit none
  integer, save :: a(0:10)
  integer :: i
  a = 0
  !$omp parallel
  !$omp single
  do i = 1, 5
    !$omp task firstprivate(i) depend(in: a(i - 1)) depend(out: a(i))
    a(i) = a(i - 1) + 1
    !$omp end task
  end do
  !$omp task depend(in: a(5)) depend(out: a(6))
  a(6) = a(5) + 1
  !$omp end task
  !$omp end single
  !$omp end parallel
  if (a(6) > 6) stop 1
end program
