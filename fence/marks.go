package fence

// Marks are the highest tokens that a resource has seen. The zero value is that of a new resource.
//
// There are two of them because readers may be at work together. With one mark, the reader with the higher token would
// shut out the other one.
type Marks struct {
	Writer int64 // the highest token of a writer; 0 if none came
	Reader int64 // the highest token of a reader; 0 if none came
}

// Admit is the rule that every store of this package follows. It returns the marks after an access with t. If t is old,
// it returns the unchanged marks and a [*StaleError] for the resource. If t is no token, the error matches
// [ErrBadToken].
//
//   - A reader's token must not be below the token of any writer seen.
//   - A writer's token must not be below the token of any writer or reader seen.
//
// An equal token is admitted. It is the token of the same lease, because later leases have higher tokens. So a lease
// may access the resource many times.
//
// Admit is pure. A store calls it and keeps the result in one atomic operation, together with the access.
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
