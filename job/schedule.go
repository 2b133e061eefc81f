package job

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	cron "github.com/netresearch/go-cron"
)

// Schedule is a rule for ticks. A tick is an instant in UTC. A Schedule does not use the time zone of the machine, so
// all machines compute the same ticks. It is safe for concurrent use.
type Schedule struct {
	text  string
	every time.Duration // 0: the schedule is a cron expression
	cron  cron.Schedule
	zone  *time.Location
	daily bool // the hour field does not begin with *: ticks in a repeated hour come only once
}

const (
	shortest = time.Second
	longest  = 366 * 24 * time.Hour
	// mostSchedule is the length of the longest text, in bytes. The text is stored with each outcome.
	mostSchedule = 256
)

const parts = cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor

// quartz matches a field with the letters of Quartz: the last day, the nearest weekday, the second Friday.
var quartz = regexp.MustCompile(`^(\d*-?L(-\d+)?|\d*LW?|\d+W|\w+#\d)$`)

// fieldOf matches a text that has only what a field of a schedule may have: numbers, names of months and days, and signs.
var fieldOf = regexp.MustCompile(`(?i)^([-*?,/]|[0-9]+|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat)+$`)

// searchYears is the number of years in which the parser looks for the next tick. The longest time between two ticks is
// 40 years: "0 0 29 2 */7" ticks on each 29 February that is a Sunday, and not between 2088 and 2128. With fewer years
// such a job would stop at that gap, and nobody would notice.
const searchYears = 41

// The two parsers treat the day fields differently. With fields, both day fields must match a day. With eitherDay,
// one of them is enough.
var (
	fields    = cron.MustNewParser(parts).WithMaxSearchYears(searchYears)
	eitherDay = cron.MustNewParser(parts | cron.DowOrDom).WithMaxSearchYears(searchYears)
)

// ParseSchedule reads a schedule:
//
//   - "every 15m": multiples of a duration from 1s to 366 days, counted from 1970-01-01 00:00 UTC. So "every 1h" ticks on
//     the hour, "every 24h" at midnight UTC, and "every 168h" on Thursdays.
//   - "30 2 * * 1-5": a cron expression with five fields: minute, hour, day of the month, month, day of the week. Also
//     "@hourly", "@daily", "@weekly", "@monthly" and "@yearly". As in crontab, a day fits one of the two day fields if
//     neither begins with *: "0 4 13 * 5" ticks on each 13th and on each Friday.
//   - "CRON_TZ=Europe/Berlin 30 2 * * *": the same in a time zone. Without a zone it is UTC.
//
// Two rules apply when the clocks of the zone change. If they go forward, a tick in the missing hour comes an hour
// later by the new time. If they go back, a tick in the repeated hour comes once, at its first time. But if the hour
// field begins with *, ticks come in both hours. So "30 2 * * *" ticks once each day, and "*/30 * * * *" ticks every
// half hour.
//
// The error says what is wrong with the text.
func ParseSchedule(text string) (*Schedule, error) {
	s, err := parseSchedule(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("schedule %q: %w", text, err)
	}
	return s, nil
}

func parseSchedule(text string) (*Schedule, error) {
	s := &Schedule{text: text, zone: time.UTC}
	if len(text) > mostSchedule {
		return nil, fmt.Errorf("%d bytes; at most %d are allowed", len(text), mostSchedule)
	}
	for _, prefix := range []string{"every ", "@every "} {
		if d, ok := strings.CutPrefix(text, prefix); ok {
			return s, s.parseEvery(strings.TrimSpace(d))
		}
	}
	rest := text
	for _, prefix := range []string{"CRON_TZ=", "TZ="} {
		if zoned, ok := strings.CutPrefix(text, prefix); ok {
			name, after, _ := strings.Cut(zoned, " ")
			zone, err := time.LoadLocation(name)
			if err != nil || name == "" || name == "Local" {
				return nil, fmt.Errorf("time zone %q is unknown; write a name such as Europe/Berlin", name)
			}
			s.zone, rest = zone, strings.TrimSpace(after)
		}
	}
	if strings.Contains(rest, "TZ=") {
		return nil, errors.New("there are two time zones; write one")
	}
	if rest == "" {
		return nil, errors.New(`there is no schedule; write "every 15m" or five fields such as "30 2 * * *"`)
	}
	split, parser := strings.Fields(rest), fields
	// The library would count an interval from the time of the call, so each machine would find other ticks.
	if rest != text && (split[0] == "every" || split[0] == "@every") {
		return nil, errors.New(`an interval is the same in all time zones; write it without a time zone, such as "every 1h"`)
	}
	if len(split) == 5 && !strings.HasPrefix(split[2], "*") && !strings.HasPrefix(split[4], "*") {
		parser = eitherDay // as in crontab
	}
	if i := slices.IndexFunc(split, func(f string) bool { return slices.Contains(strings.Split(f, ","), "") }); i >= 0 {
		return nil, fmt.Errorf("field %d is %q; write a number on both sides of each comma", i+1, split[i])
	}
	parsed, err := parser.Parse(rest)
	if i := slices.IndexFunc(split, func(field string) bool { return quartz.MatchString(field) }); err != nil && len(split) == 5 && i >= 0 {
		return nil, fmt.Errorf("field %d is %q; L, W and # are not supported: write numbers, and let the command look at the date", i+1, split[i])
	}
	if i := slices.IndexFunc(split, func(f string) bool { return !fieldOf.MatchString(f) }); err != nil && len(split) == 5 && i >= 0 {
		return nil, fmt.Errorf("field %d is %q; write five fields: minute, hour, day, month and weekday", i+1, split[i])
	}
	if err != nil {
		return nil, fmt.Errorf(`%w; write "every 15m", @hourly, @daily, @weekly, @monthly, @yearly, or five fields such as "30 2 * * *"`, err)
	}
	s.cron = parsed
	s.daily = len(split) == 5 && !strings.HasPrefix(split[1], "*") || len(split) == 1 && rest != "@hourly"
	if s.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return nil, errors.New("it never ticks; there is no such day")
	}
	return s, nil
}

func (s *Schedule) parseEvery(text string) error {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return fmt.Errorf("%q is no duration; want one such as 30s, 15m or 2h", text)
	case d < shortest || d > longest || d%time.Millisecond != 0:
		return fmt.Errorf("want whole milliseconds from %s to %dh", shortest, longest/time.Hour)
	}
	s.every = d
	return nil
}

// Location returns the time zone of the schedule: that of CRON_TZ, or UTC.
func (s *Schedule) Location() *time.Location { return s.zone }

// String returns the text of the schedule.
func (s *Schedule) String() string { return s.text }

// Next returns the first tick after t. It returns the zero Time if there is none.
func (s *Schedule) Next(t time.Time) time.Time {
	if s.every > 0 {
		d := s.every.Milliseconds()
		ms := t.UnixMilli()
		n := ms / d
		if ms%d < 0 {
			n-- // round down, also before 1970
		}
		return time.UnixMilli((n + 1) * d).UTC()
	}
	return s.nextByClock(t)
}

// nextByClock returns the first tick of a cron expression after t. A cron expression names times of a local clock.
// The library finds the next such local time, as if the clock never changed. nextByClock then finds the instant at
// which the local clock shows this time.
//
// Near a change of the clock, a later local time may be an earlier instant. There nextByClock compares the instants
// of all local times around t.
func (s *Schedule) nextByClock(t time.Time) time.Time {
	here := t.In(s.zone)
	_, offset := here.Zone()
	if begin, end := here.ZoneBounds(); begin.Add(nearChange).Before(t) {
		next := s.cron.Next(wall(here))
		if next.IsZero() {
			return time.Time{}
		}
		if at := instant(next, offset); end.IsZero() || at.Add(nearChange).Before(end) {
			return at
		}
	}
	best := time.Time{}
	for w := s.cron.Next(wall(here).Add(-nearChange)); !w.IsZero(); w = s.cron.Next(w) {
		first, second := s.instants(w)
		for _, at := range []time.Time{first, second} {
			if at.After(t) && (best.IsZero() || at.Before(best)) {
				best = at
			}
		}
		if !best.IsZero() && first.Sub(best) > nearChange {
			break
		}
	}
	return best
}

// nearChange is longer than any change of a local clock.
const nearChange = 4 * time.Hour

// wall returns the time that the local clock shows at t, in the form of a time in UTC.
func wall(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// instant returns the instant at which a local clock with this offset from UTC shows w.
func instant(w time.Time, offset int) time.Time { return w.Add(-time.Duration(offset) * time.Second) }

// near returns the ticks around a change of the zone's clock, in order: the last one that is more than nearChange
// before the change, all within nearChange of it, and the next two. With many ticks, calls of Next would take a hundred
// times as long.
func (s *Schedule) near(change time.Time) []time.Time {
	begin, end := change.Add(-nearChange), change.Add(nearChange)
	var all []time.Time
	last := wall(end.In(s.zone)).Add(nearChange)
	for w := s.cron.Next(wall(begin.In(s.zone)).Add(-nearChange)); !w.IsZero() && w.Before(last); w = s.cron.Next(w) {
		first, second := s.instants(w)
		all = append(all, first, second)
	}
	all = slices.DeleteFunc(all, func(t time.Time) bool { return t.Before(begin) || t.After(end) })
	all = append(all, s.Last(begin.Add(-time.Nanosecond)))
	if next := s.Next(end); !next.IsZero() {
		all = append(all, next, s.Next(next))
	}
	all = slices.DeleteFunc(all, time.Time.IsZero)
	slices.SortFunc(all, time.Time.Compare)
	return slices.CompactFunc(all, time.Time.Equal)
}

// instants returns the ticks at which the clock of the zone shows w. In a repeated hour there may be two: see
// [ParseSchedule]. Otherwise both results are the same. For a time in a missing hour, both are the instant at which
// the clock would have shown w without the change.
func (s *Schedule) instants(w time.Time) (first, second time.Time) {
	const day = 26 * time.Hour // longer than the offset of any zone
	_, before := w.Add(-day).In(s.zone).Zone()
	_, after := w.Add(day).In(s.zone).Zone()
	first, second = instant(w, before), instant(w, after)
	shows := func(t time.Time) bool { return wall(t.In(s.zone)).Equal(w) }
	switch a, b := shows(first), shows(second); {
	case a && !b, !a && !b:
		return first, first
	case b && !a:
		return second, second
	case s.daily:
		return first, first
	}
	return first, second
}

// Last returns the last tick at or before t. It returns the zero Time if there was none in the eight years before t.
func (s *Schedule) Last(t time.Time) time.Time {
	if s.every > 0 {
		return s.Next(t).Add(-s.every)
	}
	return lastTick(s, t)
}
