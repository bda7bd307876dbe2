# Makes forms.csv, a table, and forms-r.csv, what R makes of its columns: Rscript table/testdata/forms.R, with R 4.2.2.
# Rows 1 to 40 are those of training; the others are predicted.
library(splines)
set.seed(7)
n <- 50
train <- 1:40
x <- round(rexp(n, 0.2), 1)
x[41:44] <- c(-3, 60, 0.05, 33.3)
d <- data.frame(
  x = x, z = round(rnorm(n, 100, 15), 2), town = sample(c("Bonn", "Kiel", "Ulm"), n, TRUE),
  heat = sample(c("gas", "oil"), n, TRUE),
  when = format(as.Date("1966-11-03") + sample(0:30000, n)),
  y = round(rnorm(n), 3))
write.csv(d, "table/testdata/forms.csv", row.names = FALSE, quote = FALSE)
out <- data.frame(row = 1:n)
for (k in c(2, 4, 7)) { # what least squares make of splines
  fit <- lm(y ~ ns(x, df = k), data = d[train, ])
  out[[paste0("ns", k)]] <- predict(fit, d)
}
p <- poly(d$x[train], 3)
out[paste0("poly", 1:3)] <- predict(p, d$x) * sqrt(length(train))
m <- model.matrix(~ 0 + x:z + town:x + town:heat + x:town:heat, d)
for (name in c("x:z", "x:townKiel", "x:townUlm", "townKiel:heatoil", "townUlm:heatoil", "x:townUlm:heatoil"))
  out[[name]] <- m[, name]
day <- as.Date(d$when)
out$wday <- as.POSIXlt(day)$wday
out$sin <- sin(2 * pi * as.numeric(day) / 365.2425)
out$year <- as.POSIXlt(day)$year + 1900 + as.POSIXlt(day)$yday / 365.2425
write.csv(format(out, digits = 17, trim = TRUE), "table/testdata/forms-r.csv", row.names = FALSE, quote = FALSE)
