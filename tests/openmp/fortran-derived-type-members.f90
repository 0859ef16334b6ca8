! Two sections write a component each of a derived type.
! expect: no race
program components
  implicit none
  type particle
    real(8) :: x, y
    integer :: mass
  end type
  type(particle), save :: body
  body = particle(0, 0, 1)
  !$omp parallel sections
  !$omp section
  body%x = 1
  !$omp section
  body%y = 2
  !$omp end parallel sections
  if (body%mass /= 1) stop 1
end program
