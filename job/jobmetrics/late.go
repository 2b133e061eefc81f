package jobmetrics

import "time"

// MostLate is the time by which a tick may be late. A job whose next tick has been due for longer is overdue, unless
// its jitter is longer. The command line, the page, the doctor and the rules in metrics/alerts.yaml use this limit.
const MostLate = time.Minute
