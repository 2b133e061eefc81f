package election

// News is one message about an election: its leader, a vacancy, or an outage of the nodes.
type News struct {
	// Leader is the present leader. If its Term is the same as before, it has published another value. The zero
	// Leader means that nobody leads, if Err is nil.
	Leader

	// Err is set if too few nodes answered, or if the election cannot be observed. The leader is then unknown.
	Err error
}

// Vacant reports whether nobody leads.
func (n News) Vacant() bool { return n.Err == nil && n.Term == 0 }

// String returns the news in one line, for people and logs.
func (n News) String() string {
	if n.Err != nil {
		return "unknown: " + n.Err.Error()
	}
	return n.Leader.String()
}
