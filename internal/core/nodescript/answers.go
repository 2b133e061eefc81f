package nodescript

import (
	"strconv"
	"strings"
	"time"
)

// reader reads the part of an answer behind its first letter. It returns false if that part has another form.
type reader func(rest string) (a Answer, ok bool)

// letters has the answers of an operation by their first letter.
type letters map[byte]reader

// These are the answers that several operations have.
var (
	bad      = letters{'C': alone(Corrupt)}
	refused  = letters{'N': alone(NotAdmitted), 'O': offClock}
	arrives  = letters{'Q': resting}
	grants   = letters{'G': granted, 'S': newer(Stale), 'P': newer(Poisoned), 'H': held}
	slots    = letters{'G': granted, 'S': newer(Stale), 'P': newer(Poisoned), 'H': heldSlot}
	extends  = letters{'E': extended(Extended), 'R': extended(Repaired), 'L': lost}
	releases = letters{'D': alone(Done), 'F': gone(NotMine)}
	leaves   = letters{'D': alone(Done), 'L': gone(Lost)}
	loads    = letters{'V': loaded, 'L': alone(Lost)}
	stores   = letters{'D': alone(Done), 'S': alone(Stale), 'L': alone(Lost)}
)

// answers has the answers of the scripts. It is the contract between the scripts, their model, and the client: a test
// compares it with the letters in the Lua.
var answers = [ops][]letters{
	Acquire: {refused, bad, arrives, grants}, AcquireShared: {refused, bad, arrives, grants}, AcquireSlot: {refused, bad, arrives, slots},
	Extend: {refused, bad, extends}, ExtendShared: {refused, bad, extends},
	Release: {bad, releases}, ReleaseShared: {bad, releases}, ReleaseSlot: {bad, releases},
	Leave: {leaves}, LeaveShared: {bad, leaves},
	Quit:      {{'D': alone(Done)}},
	Refresh:   {refused, {'R': alone(Done)}},
	LoadValue: {refused, bad, arrives, loads}, StoreValue: {refused, bad, stores},
}

// readers is the table by operation and letter, for a quick look.
var readers = func() (all [ops]['Z' - 'A' + 1]reader) {
	for op, list := range answers {
		for _, of := range list {
			for letter, read := range of {
				all[op][letter-'A'] = read
			}
		}
	}
	return all
}()

// alone reads an answer that is a single letter.
func alone(v Verdict) reader {
	return func(rest string) (Answer, bool) { return Answer{Verdict: v}, rest == "" }
}

// offClock reads the node's clock.
func offClock(rest string) (Answer, bool) {
	at, err := parseMicros(rest)
	return Answer{Verdict: OffClock, Time: at}, err == nil
}

// resting reads the rest of the quarantine of names without a record, in a hash slot that came from another shard.
func resting(rest string) (Answer, bool) {
	left, err := parseLeft(rest)
	return Answer{Verdict: Quarantined, Cause: SlotCame, Left: min(left, largestRest)}, err == nil && len(rest) == digits
}

// largestRest is for a hostile server. It is more than the longest quarantine.
const largestRest = time.Hour

// granted reads whether somebody waits: 0 or 1.
func granted(rest string) (Answer, bool) {
	return Answer{Verdict: Granted, Waiting: rest == "1"}, rest == "0" || rest == "1"
}

// newer reads the highest token that the node has seen.
func newer(v Verdict) reader {
	return func(rest string) (Answer, bool) {
		seen, err := parseMicros(rest)
		return Answer{Verdict: v, Seen: seen}, err == nil
	}
}

// heldHead is the length of the fixed part of an answer Held: kind (l: a lease, c: a claim, f: a foreign key, r:
// readers), remaining time, rank.
const (
	heldHead = 1 + digits + len(noRank)
	noRank   = "------"
)

// held reads the fixed part and the owner. For readers their number and all owners follow.
func held(rest string) (a Answer, ok bool) {
	if len(rest) > heldHead+countDigits && rest[0] == 'r' {
		n, err := parseCount(rest[heldHead:])
		owners := strings.Split(strings.Clone(rest[heldHead+countDigits:]), "\n")
		a, ok = held("l" + rest[1:heldHead] + owners[0])
		a.Evidence = &Evidence{Readers: n, Owners: owners}
		return a, ok && err == nil
	}
	if len(rest) < heldHead || len(rest) > heldHead+MostOwner {
		return a, false
	}
	a = Answer{Verdict: Held, Claim: rest[0] == 'c', Foreign: rest[0] == 'f', Rank: -1, Owner: strings.Clone(rest[heldHead:])}
	var err error
	if a.Left, err = parseLeft(rest[1 : 1+digits]); err != nil {
		return a, false
	}
	if rank := rest[1+digits : heldHead]; rank != noRank {
		n, err := strconv.ParseUint(rank, 10, 32)
		a.Rank = int(n)
		return a, err == nil
	}
	return a, true
}

// heldSlot reads the same as held, with a slot behind the fixed part: the one that the node offers, or none.
func heldSlot(rest string) (a Answer, ok bool) {
	if len(rest) < heldHead+slotDigits {
		return a, false
	}
	slot := rest[heldHead : heldHead+slotDigits]
	if a, ok = held(rest[:heldHead] + rest[heldHead+slotDigits:]); !ok {
		return a, false
	}
	if a.Full = slot == noSlot; a.Full {
		return a, true
	}
	n, err := strconv.ParseUint(slot, 10, 16)
	a.Offered, a.Slot = true, int(n)
	return a, err == nil
}

// extended reads nothing, or the node's clock if the stamp is older than a window.
func extended(v Verdict) reader {
	return func(rest string) (a Answer, ok bool) {
		if a.Verdict = v; rest == "" {
			return a, true
		}
		var err error
		a.Time, err = parseMicros(rest)
		return a, err == nil && a.Time != 0
	}
}

// lost reads a letter and the owner of the name. The letter f says that the owner is the value of a foreign key. The
// letter x says that an operator has ended the lease.
func lost(rest string) (a Answer, ok bool) {
	if rest == "" || len(rest) > 1+MostOwner {
		return a, false
	}
	a = Answer{Verdict: Lost, Foreign: rest[0] == 'f', Owner: strings.Clone(rest[1:])}
	if rest[0] == 'x' {
		a.Cause = Forced
	}
	return a, true
}

// gone reads nothing, or the same as lost, with the letters that a release knows.
func gone(v Verdict) reader {
	return func(rest string) (a Answer, ok bool) {
		if rest == "" {
			return Answer{Verdict: v}, true
		}
		a, ok = lost(rest)
		a.Verdict = v
		return a, ok && strings.IndexByte("lfx", rest[0]) >= 0
	}
}

// loaded reads a value, or that the node has none.
func loaded(rest string) (Answer, bool) {
	v, ok := parseStored(rest)
	return Answer{Verdict: Loaded, Evidence: &Evidence{Stored: v}}, ok
}

func parseLeft(s string) (time.Duration, error) {
	us, err := parseMicros(s)
	if us > int64(Forever/time.Microsecond) || us >= 9_999_999_999_999_999 {
		return Forever, err
	}
	return time.Duration(us) * time.Microsecond, err
}
