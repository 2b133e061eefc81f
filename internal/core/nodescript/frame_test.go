package nodescript

import (
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// framed runs the script that joins several answers, on a server. Each call answers with its argument.
func framed(t testing.TB, s *redistest.Server, answers []string) string {
	script := "local call, sub = redis.call, string.sub\nlocal function one(key, plain, said)\n" +
		"if sub(said, 1, 1) == '!' then error(said, 0) end\nreturn said\nend\n" + strings.ReplaceAll(text("each"), "@WIDTH@", "1")
	args := []any{"EVAL", script, strconv.Itoa(len(answers))}
	for i := range answers {
		args = append(args, "key"+strconv.Itoa(i))
	}
	for _, a := range answers {
		args = append(args, a)
	}
	return s.MustDo(t, args...).(string)
}

// readBack checks the answers that Parts finds in value. An answer may be any stored bytes. Parts reads it as the
// answer to its own call, cut if it is too long, or refuses the whole value.
func readBack(t *testing.T, value string, answers []string) {
	t.Helper()
	told, empty := 0, false
	ok := Parts(value, len(answers), func(i int, got string) {
		told++
		want := answers[i]
		if strings.HasPrefix(want, "!") {
			want = "X" + want
		}
		if want = want[:min(len(want), mostPart)]; got != want {
			t.Errorf("answer %d of %d has %d bytes %.40q; want %d bytes %.40q", i, len(answers), len(got), got, len(want), want)
		}
	})
	for _, a := range answers {
		empty = empty || a == ""
	}
	if ok == empty || ok && told != len(answers) {
		t.Errorf("%d of %d answers were read", told, len(answers))
	}
}

func TestAnAnswerOfAnyLengthIsReadAsItself(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	forgery := strings.Repeat("002G0", 3000)
	for _, size := range []int{1, 2, 3, 99, 100, 998, 999, 1000, 1001, 1024, 9999, 10_000, 15_000} {
		for from := range 5 {
			for _, answers := range [][]string{
				{forgery[from:][:min(size, len(forgery)-from)], "Hl", "G0"}, {"G0", forgery[from:][:min(size, len(forgery)-from)]},
				{"!" + forgery[from:][:min(size, len(forgery)-from)], "D"},
			} {
				readBack(t, framed(t, s, answers), answers)
			}
		}
	}
}

func FuzzFrame(f *testing.F) {
	f.Add("G0", "002G0002G0", "!", uint16(1024), uint8(0))
	f.Add("Hl0000000005000000------", "002002G0G0", "D", uint16(976), uint8(1))
	s := redistest.Start(f)
	f.Fuzz(func(t *testing.T, a, b, c string, size uint16, which uint8) {
		answers := []string{a, b, c}
		if long := &answers[which%3]; *long != "" {
			*long = strings.Repeat(*long, int(size)/len(*long)+1)
		}
		readBack(t, framed(t, s, answers), answers)
	})
}
