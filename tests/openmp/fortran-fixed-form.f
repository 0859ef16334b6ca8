! In fixed form, with a line that goes on: a sum by a reduction.
! expect: no race
      PROGRAM FIXED
      INTEGER I
      REAL A(100), TOTAL
      TOTAL = 0
C$OMP PARALLEL DO REDUCTION(+:TOTAL)
      DO 10 I = 1, 100
        A(I) = REAL(I) *
     &    2
        TOTAL = TOTAL + A(I)
   10 CONTINUE
      IF (TOTAL .LT. 0) STOP 1
      END
