package fence

// Marks are the highest tokens that a resource has seen. A new resource has the zero Marks.
//
// There are two marks, because several readers can work at the same time. With a single mark, a reader with a higher
// token would make the resource refuse a reader with a lower one.
type Marks struct {
	Writer int64 // the highest token of a writer; 0 if there was none
	Reader int64 // the highest token of a reader; 0 if there was none
}

// Admit is the rule that all stores of this package use. It returns the marks after an access with t. If t is old, it
// returns the unchanged marks and a [*StaleError] for the resource. If t is not a valid token, the error matches
// [ErrBadToken].
//
//   - A reader is refused if its token is lower than the highest token of a writer.
//   - A writer is refused if its token is lower than the highest token of a writer or a reader.
//
// An equal token is accepted. It comes from the same lease, because later leases have higher tokens. So a lease may
// access the resource many times.
//
// Admit has no side effects. A store must read the marks, call Admit, store the result and make the access in one
// atomic operation.
func (m Marks) Admit(resource string, t Token) (Marks, error) {
	if err := t.check(); err != nil {
		return m, err
	}
	if t.Fence < m.Writer {
		return m, &StaleError{Resource: resource, Token: t, Mark: Token{Fence: m.Writer}}
	}
	if t.Mode == Reader {
		m.Reader = max(m.Reader, t.Fence)
		return m, nil
	}
	if t.Fence < m.Reader {
		return m, &StaleError{Resource: resource, Token: t, Mark: Token{Fence: m.Reader, Mode: Reader}}
	}
	m.Writer = t.Fence
	return m, nil
}
