* Names with blanks, so that the columns count. max 3 a + 2 b subject to
* a + b <= 4, a + 3 b <= 8, a <= 3: optimum 11 at (3, 1) and the multipliers
* -2, 0 of the rows.
NAME          TWO MINE
OBJSENSE
    MAX
ROWS
 N  PROFIT
 L  DAY 1
 L  DAY 2
COLUMNS
    A 1       PROFIT             3.0   DAY 1              1.0
    A 1       DAY 2              1.0
    B 1       PROFIT             2.0   DAY 1              1.0
    B 1       DAY 2              3.0
RHS
    SET 1     DAY 1              4.0   DAY 2              8.0
BOUNDS
 UP SET 1     A 1                3.0
ENDATA
